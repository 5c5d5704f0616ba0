//! Disciplines (algorithms of work stealing) by name.

use super::{Discipline, GlobalQueue, OfferCas, OfferMutex, RandomStealing, RangeStealing};
use crate::names::types_by_name;

// A new discipline needs only an entry here.
types_by_name! { P: Discipline, "no discipline";
    /// A closure, generic over the discipline's type, for a discipline whose name is known only at run
    /// time.
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
    /// let error = with_discipline("globalqueue", Size).unwrap_err();
    /// assert!(error.to_string().starts_with("no discipline `globalqueue`; there are "));
    /// ```
    trait DisciplineVisitor;
    /// The names of all disciplines.
    ///
    /// ```
    /// assert!(manycore_programs::stealing::disciplines().contains(&"global-queue"));
    /// ```
    fn disciplines;
    /// Calls `visitor` with the discipline of this name, on the platform `P`. The visitor's code is
    /// compiled once for each discipline.
    ///
    /// # Errors
    ///
    /// If no discipline has this name. The error lists all names.
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
    fn with_discipline;
    GlobalQueue<P>,
    RandomStealing<P>,
    OfferMutex<P>,
    OfferCas<P>,
    RangeStealing<P>,
}
