//! The number of cores that this process may use now.

use super::settings;
use crate::system::masks::with_signals_blocked;
use manycore_cores::elastic::{Allotment, Watch};
use manycore_cores::topology::Topology;
use std::sync::OnceLock;

static FOLLOWED: OnceLock<(Option<Watch>, Allotment)> = OnceLock::new();

/// Begins to follow the cores that the system leaves this process, before the first thread is
/// bound anywhere.
pub(crate) fn watch_cores() {
    FOLLOWED.get_or_init(|| {
        // A signal that the program has blocked in all its threads is not to find the watch's open.
        let watch = with_signals_blocked(|| Watch::start().ok());
        heed(watch.as_ref(), true);
        let allotment = watch.as_ref().map_or_else(
            || Allotment::new(cores()),
            |watch| watch.allotment().clone(),
        );
        (watch, allotment)
    });
}

/// Whether cores that other processes keep busy count as gone from now on. They do at first.
#[allow(dead_code, reason = "where ranks cannot be carried nobody says so")]
pub(crate) fn heed_neighbours(heeds: bool) {
    if let Some((watch, _)) = FOLLOWED.get() {
        heed(watch.as_ref(), heeds);
    }
}

fn heed(watch: Option<&Watch>, heeds: bool) {
    if let Some(watch) = watch.filter(|_| settings().heeds) {
        watch.heed_neighbours(heeds);
    }
}

/// Cores that this process may use now: by mask, cpuset, quota and neighbours.
#[inline]
pub(crate) fn cores() -> usize {
    static AT_FIRST: OnceLock<usize> = OnceLock::new();
    match FOLLOWED.get() {
        Some((_, allotment)) => allotment.cores(),
        None => *AT_FIRST.get_or_init(|| Topology::detect().default_threads()),
    }
}

/// Sleeps until the worker of this number, from 0, has one of the [`cores`].
#[allow(
    dead_code,
    reason = "where ranks cannot be carried nobody waits for a core"
)]
pub(crate) fn await_core(worker: usize) {
    if let Some((_, allotment)) = FOLLOWED.get() {
        allotment.await_turn(worker, || false);
    }
}
