//! Disciplines by name.

use super::{Discipline, GlobalQueue, OfferCas, OfferMutex, RandomStealing, RangeStealing};
use manycore_chip::Broadcast;
use manycore_platform::{Native, Platform};

/// What to do with a discipline that is known by name only at run time: a closure
/// that is generic over a type.
///
/// ```
/// use manycore::Native;
/// use manycore_programs::stealing::{Discipline, DisciplineVisitor, with_discipline};
///
/// struct Size;
///
/// impl DisciplineVisitor<Native> for Size {
///     type Output = usize;
///
///     fn visit<D: Discipline<Native>>(self) -> usize {
///         size_of::<D>()
///     }
/// }
/// assert!(with_discipline("global-queue", Size).unwrap() > 0);
/// ```
pub trait DisciplineVisitor<P: Platform> {
    /// What comes of it.
    type Output;

    /// Called with the discipline.
    fn visit<D: Discipline<P>>(self) -> Self::Output;
}

/// No discipline has this name.
///
/// ```
/// use manycore::Native;
/// use manycore_programs::stealing::{Discipline, DisciplineVisitor, with_discipline};
///
/// struct Nothing;
///
/// impl DisciplineVisitor<Native> for Nothing {
///     type Output = ();
///
///     fn visit<D: Discipline<Native>>(self) {}
/// }
/// let error = with_discipline("globalqueue", Nothing).unwrap_err();
/// assert!(error.to_string().starts_with("no discipline `globalqueue`; there are "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no discipline `{name}`; there are {}", disciplines().join(", "))]
pub struct UnknownDiscipline {
    /// The name asked for.
    pub name: String,
}

/// The list, and the one place to add to: types, over the platform `$p`.
macro_rules! registry {
    ($p:ident: $($discipline:ty,)*) => {
        /// The names of the disciplines there are.
        ///
        /// ```
        /// assert!(manycore_programs::stealing::disciplines().contains(&"global-queue"));
        /// ```
        pub fn disciplines() -> Vec<&'static str> {
            type $p = Native;
            vec![$(<$discipline as Discipline<$p>>::NAME),*]
        }

        /// Calls `visitor` with the discipline of this name, on the platform `P`.
        /// Whatever the visitor does is compiled once for each discipline.
        ///
        /// # Errors
        ///
        /// [`UnknownDiscipline`], which lists those there are.
        ///
        /// ```
        /// use manycore::Native;
        /// use manycore_programs::stealing::{Discipline, DisciplineVisitor, disciplines, with_discipline};
        ///
        /// struct Name;
        ///
        /// impl DisciplineVisitor<Native> for Name {
        ///     type Output = &'static str;
        ///
        ///     fn visit<D: Discipline<Native>>(self) -> &'static str {
        ///         D::NAME
        ///     }
        /// }
        /// for name in disciplines() {
        ///     assert_eq!(with_discipline(name, Name), Ok(name));
        /// }
        /// ```
        pub fn with_discipline<$p: Broadcast, V: DisciplineVisitor<$p>>(
            name: &str,
            visitor: V,
        ) -> Result<V::Output, UnknownDiscipline> {
            $(
                if name == <$discipline as Discipline<$p>>::NAME {
                    return Ok(visitor.visit::<$discipline>());
                }
            )*
            Err(UnknownDiscipline { name: name.into() })
        }
    };
}

registry! { P:
    GlobalQueue<P>,
    RandomStealing<P>,
    OfferMutex<P>,
    OfferCas<P>,
    RangeStealing<P>,
}
