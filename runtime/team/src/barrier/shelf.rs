//! Ports of members that were dropped.

use crate::channel::Port;
use manycore_cores::sync::Lock;
use manycore_platform::Platform;
use std::sync::Arc;

/// Keeps the ports of members that were dropped until they are made again: what the others send
/// meanwhile is there then. Their next message is all that can come, since they wait for this
/// member before the one after it.
pub struct Shelf<P: Platform> {
    ports: Lock<P, Vec<(usize, Port<P>)>>,
}

impl<P: Platform> Shelf<P> {
    /// An empty one.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            ports: Lock::new(vec![]),
        })
    }

    /// The port that the member of this rank had before.
    ///
    /// # Panics
    ///
    /// If it belongs to the hardware of another core than the caller's.
    #[track_caller]
    pub fn take(&self, rank: usize, is_hardware: bool) -> Option<Port<P>> {
        let port = self.ports.with(|ports| {
            let place = ports.iter().position(|&(other, _)| other == rank)?;
            Some(ports.swap_remove(place).1)
        })?;
        if is_hardware {
            assert_same_core(rank, port.number(), P::core());
        }
        Some(port)
    }
}

/// Members that were dropped are made again where they were: there the others' messages are.
#[track_caller]
pub(super) fn assert_same_core(rank: usize, before: usize, now: usize) {
    assert!(
        before == now,
        "member {rank} was on core {before}, and is made again on core {now}"
    );
}

/// A member's port; dropped, it goes to the shelf.
pub struct Kept<P: Platform> {
    rank: usize,
    port: Option<Port<P>>,
    shelf: Arc<Shelf<P>>,
}

impl<P: Platform> Kept<P> {
    /// The port of member `rank`, which goes to `shelf` in the end.
    pub fn new(rank: usize, port: Port<P>, shelf: &Arc<Shelf<P>>) -> Self {
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
    /// Never: the port is taken when this is dropped.
    #[inline]
    pub fn port(&mut self) -> &mut Port<P> {
        self.port.as_mut().expect("taken when this is dropped")
    }
}

impl<P: Platform> Drop for Kept<P> {
    fn drop(&mut self) {
        let port = self.port.take().expect("dropped once");
        self.shelf.ports.with(|ports| ports.push((self.rank, port)));
    }
}
