//! Finds types and values by name, or returns an error with the known names.

/// The error for an unknown name. The text has the given name and all known names.
///
/// ```
/// use manycore_programs::UnknownName;
/// use manycore_programs::spmd::Class;
///
/// let error: UnknownName = "D".parse::<Class>().unwrap_err();
/// assert_eq!(error.to_string(), "no class is called `D`; there are S, W, A, B, C");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{refusal} `{given}`; {expected} {}", names.join(", "))]
pub struct UnknownName {
    refusal: &'static str,
    expected: &'static str,
    given: String,
    names: Vec<&'static str>,
}

impl UnknownName {
    /// Finds the value of `all` with the name `given`, for [`by_name!`](crate::by_name). The error
    /// begins with `refusal`, and has `expected` before all names.
    ///
    /// # Errors
    ///
    /// If no value has this name.
    #[doc(hidden)]
    pub fn find<T: Copy>(
        all: &[T],
        name: impl Fn(T) -> &'static str,
        given: &str,
        [refusal, expected]: [&'static str; 2],
    ) -> Result<T, Self> {
        let mut named = all.iter().copied();
        let found = named.find(|&one| name(one) == given);
        found.ok_or_else(|| Self {
            refusal,
            expected,
            given: given.to_owned(),
            names: all.iter().copied().map(name).collect(),
        })
    }

    pub(crate) fn among(names: Vec<&'static str>, refusal: &'static str, given: &str) -> Self {
        Self {
            refusal,
            expected: "there are",
            given: given.to_owned(),
            names,
        }
    }
}

/// Declares types that a program chooses by name at run time. Each type has the platform `$p` as its parameter,
/// implements `$kind`, and has a `NAME`. `$names` returns the names. `$with` calls a `$visitor`, a closure that is
/// generic over a type, with the type of the given name.
macro_rules! types_by_name {
    (
        $p:ident: $kind:ident, $refusal:literal;
        $(#[$of_visitor:meta])* trait $visitor:ident;
        $(#[$of_names:meta])* fn $names:ident;
        $(#[$of_with:meta])* fn $with:ident;
        $($named:ty,)*
    ) => {
        $(#[$of_visitor])*
        pub trait $visitor<P: manycore_platform::Platform> {
            /// The result of the visit.
            type Output;

            /// Called with the type.
            fn visit<T: $kind<P>>(self) -> Self::Output;
        }

        $(#[$of_names])*
        pub fn $names() -> Vec<&'static str> {
            type $p = manycore_platform::Native;
            vec![$(<$named as $kind<$p>>::NAME),*]
        }

        $(#[$of_with])*
        pub fn $with<$p: manycore_chip::Broadcast, V: $visitor<$p>>(
            name: &str,
            visitor: V,
        ) -> Result<V::Output, $crate::UnknownName> {
            $(
                if name == <$named as $kind<$p>>::NAME {
                    return Ok(visitor.visit::<$named>());
                }
            )*
            Err($crate::UnknownName::among($names(), $refusal, name))
        }
    };
}

pub(crate) use types_by_name;

/// Declares an enum with a name for each variant. `Display`, `FromStr` and serde use the names, and
/// `ALL` has the variants in the order of the list. The two texts behind the enum's name are for the
/// error about an unknown name.
///
/// ```
/// manycore_programs::by_name! {
///     /// A colour.
///     enum Colour: "unknown colour", "expected one of" {
///         Red = "red",
///         Blue = "blue",
///     }
/// }
/// assert_eq!("blue".parse(), Ok(Colour::Blue));
/// let error = "green".parse::<Colour>().unwrap_err();
/// assert_eq!(error.to_string(), "unknown colour `green`; expected one of red, blue");
/// ```
#[macro_export]
macro_rules! by_name {
    (
        $(#[$about:meta])*
        $vis:vis enum $named:ident: $refusal:literal, $expected:literal {
            $($(#[$doc:meta])* $variant:ident = $name:literal,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $vis enum $named {
            $($(#[$doc])* $variant,)*
        }

        impl $named {
            /// All variants.
            $vis const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// The name in commands and reports.
            #[must_use]
            $vis fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }

        impl std::fmt::Display for $named {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $named {
            type Err = $crate::UnknownName;

            fn from_str(name: &str) -> Result<Self, $crate::UnknownName> {
                $crate::UnknownName::find(&Self::ALL, Self::name, name, [$refusal, $expected])
            }
        }

        impl serde::Serialize for $named {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $named {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = <std::borrow::Cow<'_, str>>::deserialize(deserializer)?;
                name.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use crate::fork::Algorithm;
    use crate::spmd::barnes::BarnesInput;
    use crate::spmd::canneal::CannealInput;
    use crate::spmd::{Class, Npb, StreamclusterInput};

    #[test]
    fn what_is_unknown_is_named_and_so_is_all_there_is() {
        let unknown = [
            (
                "D".parse::<Class>().map(drop),
                "no class is called `D`; there are S, W, A, B, C",
            ),
            (
                "ep".parse::<Npb>().map(drop),
                "no program of NPB is called `ep`; there are bt, cg, ft",
            ),
            (
                "native".parse::<StreamclusterInput>().map(drop),
                "streamcluster has no input `native`; there are test, simdev, simsmall, \
                 simmedium, simlarge",
            ),
            (
                "large".parse::<BarnesInput>().map(drop),
                "barnes has no input `large`; there are tiny, base, simsmall, simmedium, \
                 simlarge, native",
            ),
            (
                "large".parse::<CannealInput>().map(drop),
                "canneal has no input `large`; there are test, simdev, simsmall, simmedium, \
                 simlarge, native",
            ),
        ];
        for (error, said) in unknown {
            assert_eq!(error.unwrap_err().to_string(), said);
        }
        let error = "bogo-sort".parse::<Algorithm>().unwrap_err().to_string();
        assert!(error.starts_with("no algorithm is called `bogo-sort`; there are merge-sort,"));
    }

    #[test]
    fn names_are_read_back() {
        assert!(
            Class::ALL
                .iter()
                .all(|class| class.to_string().parse() == Ok(*class))
        );
        assert!(
            Npb::ALL
                .iter()
                .all(|npb| npb.to_string().parse() == Ok(*npb))
        );
        assert!(
            StreamclusterInput::ALL
                .iter()
                .all(|input| input.to_string().parse() == Ok(*input))
        );
    }
}
