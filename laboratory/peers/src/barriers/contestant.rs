use super::{foreign, native};
use crate::glue::Glue;
use anyhow::{Context, Result};

/// One thread's part in a barrier.
pub trait Member {
    /// Goes through `episodes` episodes.
    fn wait(&mut self, episodes: u32);
}

/// The function of each thread of a team, with its rank and its part.
pub type Body<'a> = &'a (dyn Fn(usize, &mut dyn Member) + Sync);

/// One row of a table.
pub struct Contestant {
    pub name: &'static str,
    /// Its members never give up the CPU: with more members than CPUs, an episode takes milliseconds,
    /// the length of the scheduler's slices.
    pub only_spins: bool,
    kind: Kind,
}

enum Kind {
    Rust(fn(usize, Body<'_>) -> Result<()>),
    Foreign(&'static Glue),
}

impl Contestant {
    /// Why it cannot be had here.
    pub fn missing(&self) -> Option<String> {
        match self.kind {
            Kind::Rust(_) => None,
            Kind::Foreign(glue) => glue.missing(),
        }
    }

    /// Calls `body` on `threads` threads at once; the caller is rank 0. Returns the version of a foreign
    /// library, which `Cargo.lock` does not name.
    ///
    /// # Errors
    ///
    /// When it cannot be had here.
    pub fn run(&self, threads: usize, body: Body<'_>) -> Result<Option<String>> {
        match self.kind {
            Kind::Rust(run) => run(threads, body).map(|()| None),
            Kind::Foreign(glue) => foreign::run(glue, threads, body).map(Some),
        }
    }
}

/// All that there are; manycore's comes first, and the others are compared with it.
pub fn contestants() -> Vec<Contestant> {
    let rust = |name, run| Contestant {
        name,
        only_spins: false,
        kind: Kind::Rust(run),
    };
    let foreign = |name, glue| Contestant {
        name,
        only_spins: false,
        kind: Kind::Foreign(glue),
    };
    vec![
        rust("manycore", native::manycore),
        Contestant {
            only_spins: true,
            ..rust("hand-spun", native::hand_spun::<false>)
        },
        rust("hand-spun-yields", native::hand_spun::<true>),
        foreign("gomp", &foreign::GOMP),
        foreign("libomp", &foreign::LIBOMP),
        foreign("c++20", &foreign::CPP),
        foreign("pthread", &foreign::PTHREAD),
        rust("std", native::standard),
    ]
}

/// The contestant of that name.
///
/// # Errors
///
/// An error if there is none.
pub fn find(name: &str) -> Result<Contestant> {
    let mut all = contestants().into_iter();
    all.find(|it| it.name == name)
        .with_context(|| format!("there is no peer `{name}`"))
}
