//! The pool of threads that wait to be members of teams.
//!
//! A thread that begins regions keeps its last team, whose threads wait for the next region. One write starts them. If
//! the next region has another size, these threads go back to the pool.

use super::member;
use crate::carry::SecondStack;
use crate::environment::cores::give_up_watch;
use crate::environment::{settings, stack_size};
use crate::system::limits::has_room;
use crate::system::report::line;
use crate::system::threads::try_spawn;
use crate::team::context::{Context, context};
use crate::team::hot::Hot;
use crate::team::{Carrier, Team};
use crate::words::bell::Bell;
use crate::words::lock::Guarded;
use manycore_platform::{Native, Platform};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32};
use std::{io, ptr};

/// The place at which a thread of the pool waits for a team.
struct Dock {
    team: Guarded<Option<(Arc<Team>, u32)>>,
    assigned: AtomicBool,
    bell: Bell,
    is_carried: bool,
}

/// The waiting threads and ranks (threads that `carry` executes) of one generation of the process
/// ([`Platform::forks`]). A child process after `fork` has none of the threads of its parent, and these may have held
/// the locks at the `fork`.
struct Pools {
    generation: u32,
    docks: [Guarded<Vec<Arc<Dock>>>; 2],
}

/// The pools of this process. A child process makes new pools, and does not access those of its parent.
static POOLS: AtomicPtr<Pools> = AtomicPtr::new(ptr::null_mut());
/// How often [`dismiss`] was called.
static PAUSES: AtomicU32 = AtomicU32::new(0);

fn pool(is_carried: bool) -> &'static Guarded<Vec<Arc<Dock>>> {
    let generation = Native::forks();
    let mut known = POOLS.load(Acquire);
    loop {
        // SAFETY: pools that are in `POOLS` are never freed. Acquire makes their contents visible.
        if let Some(pools) = unsafe { known.as_ref() }
            && pools.generation == generation
        {
            return &pools.docks[usize::from(is_carried)];
        }
        let new = Box::into_raw(Box::new(Pools {
            generation,
            docks: [const { Guarded::new(vec![]) }; 2],
        }));
        // Release publishes the contents of the new pools.
        match POOLS.compare_exchange(known, new, AcqRel, Acquire) {
            Ok(_) => known = new,
            Err(other) => {
                known = other;
                // SAFETY: the exchange has failed, so no other thread has found the new pools.
                drop(unsafe { Box::from_raw(new) });
            }
        }
    }
}

/// The number of ranks that wait for a team.
pub(super) fn waiting_ranks() -> usize {
    pool(true).with(|ranks| ranks.len())
}

/// Makes a team of `size` members. If there is no room for so many ranks, the team is not carried. If there is no room
/// for so many threads, the team is smaller. The other members, which are threads or ranks, wait for the first region.
pub(super) fn hot(size: u32, carrier: Option<&'static dyn Carrier>) -> Hot {
    let is_carried = carrier.is_some();
    let dock = |_| {
        let waiting = pool(is_carried).with(Vec::pop);
        waiting.map_or_else(|| start(is_carried), Ok)
    };
    let mut docks = vec![];
    for dock in (1..size).map(dock) {
        match dock {
            Ok(dock) => docks.push(dock),
            Err(_) if !is_carried => {
                if settings().displays {
                    line(format_args!(
                        "no room for a team of {size}: it has {} members",
                        docks.len() + 1
                    ));
                }
                break;
            }
            Err(_) => {
                pool(true).with(|ranks| ranks.append(&mut docks));
                carrier.inspect(|carrier| carrier.lacks_room(waiting_ranks()));
                return hot(size, None);
            }
        }
    }
    let team = Arc::new(Team::new(docks.len() as u32 + 1, carrier));
    for (id, dock) in (1..).zip(docks) {
        dock.team.with(|slot| *slot = Some((Arc::clone(&team), id)));
        dock.assigned.store(true, SeqCst);
        dock.bell.ring();
    }
    Hot { team, wanted: size }
}

fn start(is_carried: bool) -> io::Result<Arc<Dock>> {
    let dock = Arc::new(Dock {
        team: Guarded::new(None),
        assigned: AtomicBool::new(false),
        bell: Bell::new(),
        is_carried,
    });
    let start = || {
        let mine = Arc::clone(&dock);
        let stack = stack_size();
        let second = is_carried.then(SecondStack::new).transpose()?;
        if !has_room(stack) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        try_spawn(c"manycore-omp", stack, move || serve(&mine, second))
    };
    // If the system refuses the thread, ends the watch of the cores, which is a thread too, and tries again. For a rank,
    // the watch goes on: a team that is not carried needs fewer threads. The end of the watch frees no memory.
    start().or_else(|error| {
        let may_help = !is_carried && error.kind() != io::ErrorKind::OutOfMemory;
        if may_help && give_up_watch() {
            start()
        } else {
            Err(error)
        }
    })?;
    Ok(dock)
}

/// The life of a thread of the pool.
fn serve(dock: &Arc<Dock>, second: Option<SecondStack>) {
    let context = context();
    let born = PAUSES.load(SeqCst);
    if let Some(stack) = second {
        crate::carry::become_rank(context, stack);
    }
    loop {
        dock.bell
            .wait_until(&context.carried, &|| dock.assigned.load(SeqCst));
        dock.assigned.store(false, SeqCst);
        let Some((team, id)) = dock.team.with(Option::take) else {
            return;
        };
        member::serve(context, &team, id);
        context.sit_outside();
        // The threads of teams that this thread has led go back to the pool.
        context.hot.borrow_mut().clear();
        // The lock is held here. `dismiss` first changes `PAUSES` and then empties the pool. So either this thread sees
        // the change, or `dismiss` finds the dock.
        let waits = pool(dock.is_carried).with(|pool| {
            let waits = dock.is_carried || PAUSES.load(SeqCst) == born;
            if waits {
                pool.push(Arc::clone(dock));
            }
            waits
        });
        if !waits {
            return;
        }
    }
}

/// Ends the threads that wait for regions: the threads of the calling thread's own teams, and the threads of the pool.
/// Ranks continue to wait: the kernel thread of a rank is parked until the process ends.
pub(crate) fn dismiss(context: &Context) {
    PAUSES.fetch_add(1, SeqCst);
    context.hot.borrow_mut().clear();
    for dock in pool(false).with(std::mem::take) {
        dock.assigned.store(true, SeqCst);
        dock.bell.ring();
    }
}
