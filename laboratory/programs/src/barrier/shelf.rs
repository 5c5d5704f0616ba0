//! The ports of dropped members.

use manycore_cores::sync::Lock;
use manycore_platform::Platform;
use std::sync::Arc;

/// Keeps the ports of dropped members until these are made again, so that the ports receive messages meanwhile. Each
/// other member sends at most one message meanwhile, because its next episode (use of the barrier) needs the dropped
/// member.
pub(super) struct Shelf<P: Platform, T: Send> {
    ports: Lock<P, Vec<(usize, T)>>,
}

impl<P: Platform, T: Send> Shelf<P, T> {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            ports: Lock::new(vec![]),
        })
    }

    /// Takes the port of the former member of this rank (number of a member).
    pub(super) fn take(&self, rank: usize) -> Option<T> {
        self.ports.with(|ports| {
            let place = ports.iter().position(|&(other, _)| other == rank)?;
            Some(ports.swap_remove(place).1)
        })
    }
}

/// Asserts that a member is made again on its former core, where the others' messages are.
#[track_caller]
pub(super) fn assert_same_core(rank: usize, before: usize, now: usize) {
    assert!(
        before == now,
        "member {rank} was on core {before}, and is made again on core {now}"
    );
}

/// A member's port. When it is dropped, the port goes to the shelf.
pub(super) struct Kept<P: Platform, T: Send> {
    rank: usize,
    port: Option<T>,
    shelf: Arc<Shelf<P, T>>,
}

impl<P: Platform, T: Send> Kept<P, T> {
    /// The port of member `rank`. On drop it goes to `shelf`.
    pub(super) fn new(rank: usize, port: T, shelf: &Arc<Shelf<P, T>>) -> Self {
        Self {
            rank,
            port: Some(port),
            shelf: Arc::clone(shelf),
        }
    }

    /// The port.
    ///
    /// # Panics
    ///
    /// Never, since only drop takes the port.
    #[inline]
    pub(super) fn port(&mut self) -> &mut T {
        self.port.as_mut().expect("taken when this is dropped")
    }
}

impl<P: Platform, T: Send> Drop for Kept<P, T> {
    fn drop(&mut self) {
        let port = self.port.take().expect("dropped once");
        self.shelf.ports.with(|ports| ports.push((self.rank, port)));
    }
}
