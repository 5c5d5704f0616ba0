//! The programs of the NAS parallel benchmarks, by name.

use super::{Bt, BtPhases, Cg, CgPhases, Class, Declaration, Ft, FtPhases, Program};
use manycore_platform::Platform;
use std::fmt;
use std::str::FromStr;

/// A program of the NAS parallel benchmarks.
///
/// ```
/// use manycore_kernels::spmd::{Alone, Class, Npb, Ranked, Sums};
/// use manycore_platform::Native;
///
/// let cg = "cg".parse::<Npb>()?.program::<Native>(Class::S);
/// let (mut alone, sums) = (Alone, Sums::new(cg.grains()));
/// // SAFETY: a team of one, whose sums nobody else has.
/// cg.run(&mut unsafe { Ranked::<Native>::new(&mut alone, &sums) });
/// cg.verify()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Npb {
    /// [`Bt`]: the flow of a gas through a cube.
    Bt,
    /// [`Cg`]: the largest eigenvalue of a sparse matrix.
    Cg,
    /// [`Ft`]: Fourier transforms of a box.
    Ft,
}

impl Npb {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Bt, Self::Cg, Self::Ft];

    /// The name in commands and reports.
    ///
    /// ```
    /// assert_eq!(manycore_kernels::spmd::Npb::Cg.name(), "cg");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bt => "bt",
            Self::Cg => "cg",
            Self::Ft => "ft",
        }
    }

    /// The program, with the data of a class: from a millisecond for class S to half a
    /// minute for C.
    #[must_use]
    pub fn program<P: Platform>(self, class: Class) -> Box<dyn Program> {
        match self {
            Self::Bt => Box::new(Bt::<P>::new(class)),
            Self::Cg => Box::new(Cg::<P>::new(class)),
            Self::Ft => Box::new(Ft::<P>::new(class)),
        }
    }

    /// What the program does, without data.
    ///
    /// ```
    /// use manycore_kernels::spmd::{Class, Npb};
    /// assert_eq!(Npb::Ft.declaration(Class::A).steps(), 6);
    /// ```
    #[must_use]
    pub fn declaration(self, class: Class) -> Box<dyn Declaration> {
        match self {
            Self::Bt => Box::new(BtPhases::of(class)),
            Self::Cg => Box::new(CgPhases::of(class)),
            Self::Ft => Box::new(FtPhases::of(class)),
        }
    }
}

impl fmt::Display for Npb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No program of the benchmarks has this name.
///
/// ```
/// use manycore_kernels::spmd::Npb;
///
/// let error = "ep".parse::<Npb>().unwrap_err();
/// assert!(error.to_string().starts_with("no program of NPB is called `ep`; there are bt, cg, ft"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no program of NPB is called `{0}`; there are {list}", list = Npb::ALL.map(Npb::name).join(", "))]
pub struct UnknownNpb(pub String);

impl FromStr for Npb {
    type Err = UnknownNpb;

    fn from_str(name: &str) -> Result<Self, UnknownNpb> {
        let found = Self::ALL.into_iter().find(|npb| npb.name() == name);
        found.ok_or_else(|| UnknownNpb(name.to_owned()))
    }
}
