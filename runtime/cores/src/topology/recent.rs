//! The machine for a pool that is built now. A program may build a pool for each of its calls. Reading the limits of
//! the control groups takes three times as long as the rest of building the pool.

use super::{CpuSet, Topology, affinity_mask};
use manycore_platform::{Native, Platform};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long a result is valid, unless the calling thread has another mask.
const HOLDS: Duration = Duration::from_millis(10);

struct Recent {
    /// When the machine was read, in ticks of the platform's clock.
    at: u64,
    mask: Option<CpuSet>,
    machine: Arc<Topology>,
}

static LAST: Mutex<Option<Recent>> = Mutex::new(None);

/// This machine as it is now, or as it was at most 10 ms ago. This is for runtimes that are built often.
///
/// ```
/// use manycore_cores::topology::recent;
///
/// assert!(recent().default_threads() >= 1);
/// ```
pub fn recent() -> Arc<Topology> {
    let (now, mask) = (Native::now(), affinity_mask());
    let holds = Native::duration_to_ticks(HOLDS);
    // This does not wait for the lock, since a child of `fork` may lack the thread that holds the lock.
    let mut last = LAST.try_lock().ok();
    let found = last.as_deref().and_then(Option::as_ref);
    // Clocks of two cores may differ. A result from the future is out of date, too.
    let is_recent = |found: &&Recent| now.checked_sub(found.at).is_some_and(|age| age < holds);
    if let Some(found) = found.filter(is_recent).filter(|found| found.mask == mask) {
        return Arc::clone(&found.machine);
    }
    let machine = Arc::new(Topology::detect());
    if let Some(last) = &mut last {
        let (at, machine) = (now, Arc::clone(&machine));
        **last = Some(Recent { at, mask, machine });
    }
    machine
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_platform::ThreadSpec;
    use std::sync::mpsc;

    #[test]
    fn a_bound_thread_finds_its_own_cpu() {
        if affinity_mask().is_none() {
            return; // Threads cannot be bound here.
        }
        let ids = || -> Vec<usize> { recent().usable().iter().map(|cpu| cpu.id).collect() };
        let all = ids();
        for &cpu in &all {
            let (tell, told) = mpsc::channel();
            let spec = ThreadSpec {
                cpus: vec![cpu],
                ..ThreadSpec::default()
            };
            let body = move || drop(tell.send(recent().usable().to_vec()));
            let thread = Native::spawn(spec, Box::new(body)).expect("the system makes a thread");
            let usable = told.recv().expect("the thread sends its CPUs");
            Native::join(thread);
            assert!(usable.iter().map(|cpu| cpu.id).eq([cpu]));
            assert_eq!(ids(), all);
        }
    }

    // Under Miri's own clock, one look takes longer than the time for which a result is valid.
    #[test]
    #[cfg_attr(miri, ignore)]
    fn a_moment_later_the_result_is_the_same() {
        let mut looks = (0..1_000).map(|_| (recent(), recent()));
        assert!(looks.any(|(one, other)| Arc::ptr_eq(&one, &other)));
    }
}
