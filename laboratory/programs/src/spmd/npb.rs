//! The programs of the NAS parallel benchmarks, by name.

use super::{Bt, BtPhases, Cg, CgPhases, Class, Declaration, Ft, FtPhases, Program};
use crate::by_name;
use manycore_platform::{Native, Platform};

by_name! {
    /// A program of the NAS parallel benchmarks.
    ///
    /// ```
    /// use manycore_programs::spmd::{Alone, Class, Npb, Ranked, Sums};
    /// use manycore_platform::Native;
    ///
    /// let cg = "cg".parse::<Npb>()?.on_this_machine(Class::S);
    /// let (mut alone, sums) = (Alone, Sums::new(cg.grains()));
    /// // SAFETY: a team of one rank, with its own sums.
    /// unsafe { cg.run(&mut Ranked::<Native>::new(&mut alone, &sums)) };
    /// cg.verify()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub enum Npb: "no program of NPB is called", "there are" {
        /// [`Bt`]: the flow of a gas through a cube.
        Bt = "bt",
        /// [`Cg`]: the largest eigenvalue of a sparse matrix.
        Cg = "cg",
        /// [`Ft`]: Fourier transforms of a box.
        Ft = "ft",
    }
}

impl Npb {
    /// Makes the program and the data of a class. This takes a few milliseconds for class S, some
    /// seconds for C.
    #[must_use]
    pub fn program<P: Platform>(self, class: Class) -> Box<dyn Program> {
        match self {
            Self::Bt => Box::new(Bt::<P>::new(class)),
            Self::Cg => Box::new(Cg::<P>::new(class)),
            Self::Ft => Box::new(Ft::<P>::new(class)),
        }
    }

    /// [`program`](Self::program) for this machine. Callers share this compiled copy.
    ///
    /// ```
    /// use manycore_programs::spmd::{Class, Npb};
    /// assert!(Npb::Cg.on_this_machine(Class::S).grains() > 0);
    /// ```
    #[must_use]
    pub fn on_this_machine(self, class: Class) -> Box<dyn Program> {
        self.program::<Native>(class)
    }

    /// The program's phases, without its data.
    ///
    /// ```
    /// use manycore_programs::spmd::{Class, Npb};
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
