use std::fmt;
use std::panic::Location;

/// A place of the program where ranks (its parts) meet. A rank usually does the same work after this place each time,
/// so the team learns the work for each site.
///
/// Sites are compared by address: two names with the same text may be different sites.
///
/// ```
/// use manycore_team::Site;
///
/// assert_eq!(Site::START, Site::START);
/// assert_ne!(Site::named("after axpy"), Site::START);
/// assert_ne!(Site::here(), Site::here()); // two places
/// ```
#[derive(Clone, Copy)]
pub struct Site(Kind);

#[derive(Clone, Copy)]
enum Kind {
    Start,
    Name(&'static str),
    Place(&'static Location<'static>),
    Address(usize),
}

impl Site {
    /// The beginning of a run.
    pub const START: Self = Self(Kind::Start);

    /// A site with a name.
    #[must_use]
    pub const fn named(name: &'static str) -> Self {
        Self(Kind::Name(name))
    }

    /// The place in the source from which this function is called.
    #[must_use]
    #[track_caller]
    pub const fn here() -> Self {
        Self(Kind::Place(Location::caller()))
    }

    /// An address in a program that is only available compiled.
    ///
    /// ```
    /// // The return address of a compiled program's call.
    /// let site = manycore_team::Site::at(0x40_1136);
    /// ```
    #[must_use]
    pub const fn at(address: usize) -> Self {
        Self(Kind::Address(address))
    }

    fn identity(self) -> usize {
        match self.0 {
            Kind::Start => 0,
            Kind::Name(name) => name.as_ptr().addr(),
            Kind::Place(place) => std::ptr::from_ref(place).addr(),
            Kind::Address(address) => address,
        }
    }
}

impl PartialEq for Site {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Site {}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Start => f.write_str("the start"),
            Kind::Name(name) => f.write_str(name),
            Kind::Place(place) => place.fmt(f),
            Kind::Address(address) => write!(f, "{address:#x}"),
        }
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Site({self})")
    }
}
