use super::{foreign, native};
use crate::glue::Glue;
use anyhow::{Context, Result};

/// A thread's membership of a barrier.
pub trait Member {
    /// Waits at the barrier `episodes` times.
    fn wait(&mut self, episodes: u32);
}

/// The function of each thread of a team. It receives the thread's rank and membership.
pub type Body<'a> = &'a (dyn Fn(usize, &mut dyn Member) + Sync);

/// One row of a table.
pub struct Contestant {
    pub name: &'static str,
    /// Whether waiting members never yield the CPU. With more members than CPUs, an episode then
    /// takes whole slices of the scheduler: milliseconds.
    pub only_spins: bool,
    kind: Kind,
}

enum Kind {
    Rust(fn(usize, Body<'_>) -> Result<()>),
    Foreign(&'static Glue),
}

impl Contestant {
    /// The reason why the barrier is missing here, if it is.
    pub fn missing(&self) -> Option<String> {
        match self.kind {
            Kind::Rust(_) => None,
            Kind::Foreign(glue) => glue.missing(),
        }
    }

    /// Calls `body` on `threads` threads at once. The caller is rank 0. Returns the version of a
    /// foreign library, since `Cargo.lock` does not name it.
    ///
    /// # Errors
    ///
    /// If the barrier is missing here.
    pub fn run(&self, threads: usize, body: Body<'_>) -> Result<Option<String>> {
        match self.kind {
            Kind::Rust(run) => run(threads, body).map(|()| None),
            Kind::Foreign(glue) => foreign::run(glue, threads, body).map(Some),
        }
    }
}

/// All contestants. The others are compared with the first, manycore.
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

/// The contestant called `name`.
///
/// # Errors
///
/// If there is no such contestant.
pub fn find(name: &str) -> Result<Contestant> {
    let mut all = contestants().into_iter();
    all.find(|it| it.name == name)
        .with_context(|| format!("there is no peer `{name}`"))
}
