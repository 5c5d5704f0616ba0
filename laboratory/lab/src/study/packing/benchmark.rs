//! The programs of the poster (`mod.rs` names it), and its statements about them.

use manycore_platform::Platform;
use manycore_programs::spmd::{Class, Declaration, Npb, Program, barnes, canneal};

manycore_programs::by_name! {
    /// The poster's five programs.
    pub(super) enum Benchmark: "unknown benchmark", "expected some of" {
        Barnes = "barnes",
        Bt = "bt",
        Canneal = "canneal",
        Cg = "cg",
        Ft = "ft",
    }
}

impl Benchmark {
    /// The dataset that the poster's table I names.
    pub(super) fn dataset(self) -> &'static str {
        match self {
            Self::Barnes | Self::Canneal => "native",
            Self::Bt | Self::Cg | Self::Ft => "C",
        }
    }

    /// A dataset that a simulated machine runs in seconds.
    pub(super) fn small(self) -> &'static str {
        match self {
            Self::Barnes => "tiny",
            Self::Canneal => "simdev",
            Self::Bt | Self::Cg | Self::Ft => "S",
        }
    }

    /// The program on the small dataset.
    pub(super) fn program<P: Platform>(self) -> Box<dyn Program> {
        match self {
            Self::Barnes => Box::new(barnes::Barnes::<P>::new(
                barnes::BarnesInput::Tiny.problem(),
            )),
            Self::Canneal => Box::new(canneal::Canneal::<P>::of(canneal::CannealInput::SimDev)),
            Self::Bt => Npb::Bt.program::<P>(Class::S),
            Self::Cg => Npb::Cg.program::<P>(Class::S),
            Self::Ft => Npb::Ft.program::<P>(Class::S),
        }
    }

    /// The program's declaration for the poster's dataset.
    pub(super) fn declaration(self) -> Box<dyn Declaration> {
        match self {
            Self::Barnes => Box::new(barnes::BarnesPhases::of(barnes::BarnesInput::Native)),
            Self::Canneal => Box::new(canneal::CannealPhases::of(canneal::CannealInput::Native)),
            Self::Bt => Npb::Bt.declaration(Class::C),
            Self::Cg => Npb::Cg.declaration(Class::C),
            Self::Ft => Npb::Ft.declaration(Class::C),
        }
    }

    /// The poster's table I: the mean time between two barriers, 16 threads on 16 cores.
    pub(super) fn interval_ns(self) -> f64 {
        let ms = match self {
            Self::Barnes => 596.62,
            Self::Bt => 66.69,
            Self::Canneal => 2.42,
            Self::Cg => 4.10,
            Self::Ft => 248.53,
        };
        ms * 1e6
    }

    /// The poster's word for this interval.
    pub(super) fn grain(self) -> &'static str {
        match self {
            Self::Canneal | Self::Cg => "fine",
            Self::Barnes | Self::Bt | Self::Ft => "coarse",
        }
    }
}
