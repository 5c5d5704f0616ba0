//! The ways to make a pool's threads: by a function of the program, or by the pool itself.

use crate::error::ThreadPoolBuildError;
use crate::handlers::NameOf;
use manycore::seam::{self, ThreadStart};
use manycore::{Builder, Pool};
use std::cell::RefCell;
use std::{fmt, io, thread};

/// A thread that a pool needs. See [`spawn_handler`](crate::ThreadPoolBuilder::spawn_handler).
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new()
///     .num_threads(2)
///     .spawn_handler(|thread| {
///         assert!(thread.index() < 2 && thread.name().is_none());
///         std::thread::Builder::new().spawn(|| thread.run()).map(drop)
///     })
///     .build()?;
/// assert_eq!(pool.install(|| 3 + 4), 7);
/// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
/// ```
pub struct ThreadBuilder {
    start: ThreadStart,
    /// Whether the program has named the threads.
    is_named: bool,
}

impl ThreadBuilder {
    /// The number of the thread in its pool, from 0.
    pub fn index(&self) -> usize {
        self.start.index()
    }

    /// The name that the pool's builder gave the thread.
    pub fn name(&self) -> Option<&str> {
        self.is_named.then(|| self.start.name())
    }

    /// The size of the thread's stack in bytes, if the builder set it.
    pub fn stack_size(&self) -> Option<usize> {
        self.start.stack_size()
    }

    /// Makes the current thread this thread of the pool. Returns when the pool has ended.
    pub fn run(self) {
        self.start.run();
    }

    /// Returns a builder for a thread with the requested name and stack size.
    pub(crate) fn to_std(&self) -> thread::Builder {
        let mut builder = thread::Builder::new();
        if let Some(name) = self.name() {
            builder = builder.name(name.to_owned());
        }
        match self.stack_size() {
            Some(bytes) => builder.stack_size(bytes),
            None => builder,
        }
    }
}

impl fmt::Debug for ThreadBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadBuilder")
            .field("index", &self.index())
            .field("name", &self.name())
            .field("stack_size", &self.stack_size())
            .finish()
    }
}

/// How a pool's threads are made.
pub trait ThreadSpawn {
    /// Builds the pool. `name_of` is the program's function that names the threads.
    ///
    /// # Errors
    ///
    /// Returns the errors of the builder and of the program's spawn handler.
    fn build(
        self,
        builder: &Builder,
        name_of: Option<NameOf>,
    ) -> Result<Pool, ThreadPoolBuildError>;
}

/// The pool makes its threads itself.
#[derive(Debug, Default)]
pub struct DefaultSpawn;

impl ThreadSpawn for DefaultSpawn {
    fn build(
        self,
        builder: &Builder,
        name_of: Option<NameOf>,
    ) -> Result<Pool, ThreadPoolBuildError> {
        make(builder, name_of, None)
    }
}

/// A function of the program makes the threads.
pub struct CustomSpawn<F>(pub(crate) F);

impl<F: FnMut(ThreadBuilder) -> io::Result<()>> ThreadSpawn for CustomSpawn<F> {
    fn build(
        mut self,
        builder: &Builder,
        name_of: Option<NameOf>,
    ) -> Result<Pool, ThreadPoolBuildError> {
        let is_named = name_of.is_some();
        let mut spawn = |start| (self.0)(ThreadBuilder { start, is_named });
        make(builder, name_of, Some(&mut spawn))
    }
}

fn make(
    builder: &Builder,
    name_of: Option<NameOf>,
    spawn: Option<&mut dyn FnMut(ThreadStart) -> io::Result<()>>,
) -> Result<Pool, ThreadPoolBuildError> {
    let name_of = name_of.map(RefCell::new);
    let name = name_of
        .as_ref()
        .map(|name_of| |index| name_of.borrow_mut()(index));
    let name = name.as_ref().map(|name| name as &dyn Fn(usize) -> String);
    Ok(seam::build(builder, name, spawn)?)
}
