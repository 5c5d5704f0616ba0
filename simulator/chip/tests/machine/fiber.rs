//! Fibers in simulated threads, which are coroutines themselves. A simulated thread is suspended while it executes on a
//! fiber's stack, and a fiber continues on another simulated thread.

use crate::support::{machine, machines};
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation, Statistics};
use manycore_platform::{Atomic, AtomicInteger, Futex, Ordering::SeqCst, Platform, ThreadSpec};
use manycore_team::fiber::{Fiber, Movable, Progress, Stacks, Suspender, slot};
use std::sync::{Arc, Mutex};

type Count = <Simulated as Platform>::AtomicU64;
type Word = <Simulated as Platform>::Futex;

const STACK: usize = 128 << 10;

fn spawn(cpus: Vec<usize>, body: impl FnOnce() + Send + 'static) -> manycore_chip::SimulatedThread {
    let spec = ThreadSpec {
        cpus,
        ..ThreadSpec::default()
    };
    Simulated::spawn(spec, Box::new(body)).unwrap()
}

fn fiber(
    stacks: &Stacks<Simulated>,
    body: impl FnOnce(&Suspender<Simulated>) + Send + 'static,
) -> Movable<Simulated> {
    // SAFETY: the bodies borrow nothing, keep only their captures and numbers, and all of a simulation runs on one thread
    // of the host. The programs drop their fibers.
    unsafe { Movable::new(Fiber::new(stacks.take().unwrap(), body)) }
}

/// Runs `program` twice. Both runs must take the same cycles.
fn run<T: PartialEq + std::fmt::Debug>(
    machine: &Config,
    program: impl Fn() -> T,
) -> (T, Statistics) {
    let simulation = Simulation::new(machine).limit(1 << 36);
    let [first, second] = [(); 2].map(|()| simulation.run(&program).unwrap());
    assert_eq!(first.value, second.value);
    assert_eq!(first.statistics.hash, second.statistics.hash);
    assert_eq!(first.statistics.cycles, second.statistics.cycles);
    (first.value, first.statistics)
}

/// Fibers wait in a queue behind a simulated lock. Each thread takes the first fiber, resumes it, and puts it last.
fn go_around(threads: usize, fibers: u64, steps: u64, cores: Option<usize>) -> (u64, u64) {
    let stacks = Arc::new(Stacks::<Simulated>::new(STACK));
    let sum = Arc::new(Count::new(0));
    let ended = Arc::new(Count::new(0));
    let busy = Arc::new(Word::new(0));
    let row = Arc::new(Mutex::new(std::collections::VecDeque::new()));
    for id in 1..=fibers {
        let sum = Arc::clone(&sum);
        let body = move |suspender: &Suspender<Simulated>| {
            let mine = (id * 16) as *const ();
            // SAFETY: only `slot` looks at it.
            unsafe { Simulated::set_slot(mine) };
            // This is on the stack, from where other cores' caches fetch it.
            let mut seen = [0_u64; 16];
            for step in 0..steps {
                Simulated::compute(50 + (id * 37 + step * 11) % 200);
                seen[(step % 16) as usize] = sum.fetch_add(id, SeqCst);
                Simulated::write(&mut seen);
                assert_eq!(slot::<Simulated>(), mine);
                if step % 3 == id % 3 {
                    suspender.suspend();
                }
                assert_eq!(slot::<Simulated>(), mine);
                Simulated::read(&seen);
                if step % 5 == 0 {
                    Simulated::yield_now();
                }
            }
        };
        row.lock().unwrap().push_back(fiber(&stacks, body));
    }
    let team: Vec<_> = (0..threads)
        .map(|thread| {
            let (row, ended, busy) = (Arc::clone(&row), Arc::clone(&ended), Arc::clone(&busy));
            let stacks = Arc::clone(&stacks);
            spawn(
                cores.map(|cores| thread % cores).into_iter().collect(),
                move || {
                    let mine = (thread + 1) as *const ();
                    // SAFETY: only `slot` looks at it.
                    unsafe { Simulated::set_slot(mine) };
                    while ended.load(SeqCst) < fibers {
                        while busy.swap(1, SeqCst) == 1 {
                            busy.wait(1, None);
                        }
                        let taken = row.lock().unwrap().pop_front();
                        busy.store(0, SeqCst);
                        busy.wake(1);
                        let Some(mut fiber) = taken else {
                            Simulated::compute(1_000);
                            continue;
                        };
                        match fiber.resume() {
                            Progress::Suspended => row.lock().unwrap().push_back(fiber),
                            Progress::Ended(result) => {
                                result.unwrap();
                                stacks.put(fiber.into_inner().into_stack());
                                ended.fetch_add(1, SeqCst);
                            }
                        }
                        assert_eq!(slot::<Simulated>(), mine);
                    }
                },
            )
        })
        .collect();
    team.into_iter().for_each(Simulated::join);
    (sum.load(SeqCst), ended.load(SeqCst))
}

#[test]
fn fibers_go_around_the_cores_of_every_machine() {
    for (name, machine) in machines() {
        let cores = machine.cores as usize;
        let ((sum, ended), statistics) =
            run(&machine, || go_around(cores.min(8), 24, 30, Some(cores)));
        assert_eq!((sum, ended), (30 * (24 * 25 / 2), 24), "{name}");
        for core in &statistics.report.cores {
            assert_eq!(core.sum(), statistics.cycles, "{name}");
        }
    }
}

/// The simulated system preempts threads within a fiber, and continues them on other cores.
#[test]
fn threads_are_preempted_and_moved_inside_of_fibers() {
    let mut machine = machine("atac-64", &["cores=4"]);
    let os = &mut machine.os;
    (os.tick, os.tick_cost) = (900, 50);
    (os.latency, os.min_granularity) = (2_000, 700);
    (os.balance, os.hot) = (1_500, 400);
    let ((sum, ended), _) = run(&machine, || go_around(11, 20, 60, None));
    assert_eq!((sum, ended), (60 * (20 * 21 / 2), 20));
}

/// Both threads spin, sleep and wake on fibers' stacks.
#[test]
fn fibers_wait_for_each_other_in_every_way() {
    let ping_pong = |sleeps: bool| {
        move || {
            let stacks = Arc::new(Stacks::<Simulated>::new(STACK));
            let word = Arc::new(Word::new(0));
            let team: Vec<_> = (0..2)
                .map(|side: u32| {
                    let (stacks, word) = (Arc::clone(&stacks), Arc::clone(&word));
                    spawn(vec![side as usize * 5], move || {
                        let mut fiber = fiber(&stacks, move |suspender| {
                            for round in 0..50 {
                                loop {
                                    let now = word.load(SeqCst);
                                    if now % 2 == side {
                                        break;
                                    }
                                    if sleeps {
                                        word.wait(now, None);
                                    } else {
                                        Simulated::spin_while(&word, now, u64::MAX);
                                    }
                                }
                                word.fetch_add(1, SeqCst);
                                word.wake(1);
                                if round % 7 == 0 {
                                    suspender.suspend();
                                }
                            }
                        });
                        while let Progress::Suspended = fiber.resume() {
                            Simulated::compute(100);
                        }
                    })
                })
                .collect();
            team.into_iter().for_each(Simulated::join);
            word.load(SeqCst)
        }
    };
    for sleeps in [false, true] {
        let (value, _) = run(&machine("westmere-ex", &[]), ping_pong(sleeps));
        assert_eq!(value, 100, "sleeps: {sleeps}");
    }
}

/// A simulated thread runs a fiber in a fiber: three stacks.
#[test]
fn a_thread_is_put_aside_from_a_fiber_in_a_fiber() {
    let program = || {
        let sum = Arc::new(Count::new(0));
        let team: Vec<_> = (0..6)
            .map(|core| {
                let sum = Arc::clone(&sum);
                spawn(vec![core], move || {
                    let stacks = Arc::new(Stacks::<Simulated>::new(STACK));
                    let inside = Arc::clone(&stacks);
                    let mut outer = fiber(&stacks, move |suspender| {
                        for _ in 0..5 {
                            let sum = Arc::clone(&sum);
                            let mut inner = fiber(&inside, move |suspender| {
                                sum.fetch_add(1, SeqCst);
                                suspender.suspend();
                                sum.fetch_add(1, SeqCst);
                            });
                            while let Progress::Suspended = inner.resume() {
                                suspender.suspend();
                            }
                            inside.put(inner.into_inner().into_stack());
                        }
                    });
                    while let Progress::Suspended = outer.resume() {
                        Simulated::compute(10);
                    }
                })
            })
            .collect();
        team.into_iter().for_each(Simulated::join);
        sum.load(SeqCst)
    };
    assert_eq!(run(&machine("dahu", &[]), program).0, 60);
}

/// A panic in a fiber, and the unwinding of a dropped fiber, take simulated time: other threads run
/// in between.
#[test]
fn fibers_panic_and_are_dropped_inside_of_a_simulation() {
    struct Counts(Arc<Count>);
    impl Drop for Counts {
        fn drop(&mut self) {
            for _ in 0..10 {
                self.0.fetch_add(1, SeqCst);
            }
        }
    }
    let program = || {
        let drops = Arc::new(Count::new(0));
        let stacks = Arc::new(Stacks::<Simulated>::new(STACK));
        let left = Arc::new(Mutex::new(vec![]));
        let team: Vec<_> = (0..8)
            .map(|core| {
                let counts = Counts(Arc::clone(&drops));
                let (stacks, left) = (Arc::clone(&stacks), Arc::clone(&left));
                spawn(vec![core], move || {
                    let mut fiber = fiber(&stacks, move |suspender| {
                        let _counts = counts;
                        suspender.suspend();
                        std::panic::resume_unwind(Box::new(core));
                    });
                    assert!(matches!(fiber.resume(), Progress::Suspended));
                    if core % 2 == 0 {
                        let Progress::Ended(Err(payload)) = fiber.resume() else {
                            panic!("no panic");
                        };
                        assert_eq!(*payload.downcast::<usize>().unwrap(), core);
                    } else if core == 7 {
                        // Another thread drops this fiber.
                        left.lock().unwrap().push(fiber);
                    } else {
                        drop(fiber);
                    }
                })
            })
            .collect();
        team.into_iter().for_each(Simulated::join);
        let before = drops.load(SeqCst);
        left.lock().unwrap().clear();
        (before, drops.load(SeqCst))
    };
    assert_eq!(run(&machine("atac-64", &[]), program).0, (70, 80));
    assert!(!std::thread::panicking());
}

/// Fibers that a main thread leaves behind when it returns are not unwound, and their memory is not
/// used again.
#[test]
fn a_run_ends_while_fibers_are_suspended_and_running() {
    let program = || {
        let stacks = Arc::new(Stacks::<Simulated>::new(STACK));
        for core in 1..4 {
            let stacks = Arc::clone(&stacks);
            spawn(vec![core], move || {
                let mut suspended = fiber(&stacks, |suspender| {
                    struct Never;
                    impl Drop for Never {
                        fn drop(&mut self) {
                            panic!("unwound after the end");
                        }
                    }
                    let _never = Never;
                    suspender.suspend();
                });
                suspended.resume();
                let mut running = fiber(&stacks, |_| {
                    loop {
                        Simulated::compute(1_000);
                        Simulated::yield_now();
                    }
                });
                running.resume();
            });
        }
        Simulated::compute(1_000_000);
    };
    run(&machine("atac-64", &[]), program);
}

/// If all stacks end at page boundaries, fibers on one core evict each other's frames, though the cache has room for
/// all. Fibers that begin at different depths do not.
#[test]
fn colours_spare_the_caches() {
    const FIBERS: usize = 48;
    const ROUNDS: usize = 50;
    let misses_with = |colours: usize| {
        let program = move || {
            let stacks = Stacks::<Simulated>::with_colours(STACK, colours);
            let mut fibers: Vec<_> = (0..FIBERS)
                .map(|_| {
                    fiber(&stacks, |suspender| {
                        loop {
                            suspender.suspend();
                        }
                    })
                })
                .collect();
            let mut turn = || fibers.iter_mut().for_each(|fiber| _ = fiber.resume());
            turn();
            let start = Simulated::now();
            (0..ROUNDS).for_each(|_| turn());
            (Simulated::now() - start) / (ROUNDS * FIBERS) as u64
        };
        run(&machine("atac-64", &[]), program).0
    };
    let (without, with) = (misses_with(1), misses_with(64));
    println!("cycles a switch: {without} without colours, {with} with");
    assert!(with < 100, "{with}");
    assert!(without > 100, "{without}");
}

/// Stacks are memory of the simulated machine. Their addresses are the same in every run, whatever the order of sizes,
/// and new stacks take system calls.
#[test]
fn stacks_lie_in_simulated_memory() {
    use manycore_platform::Stack;
    let program = || {
        let first = Box::new(0_u8);
        let origin = (&raw const *first).addr();
        let sizes = [4 << 10, 64 << 10, 65 << 10, 512 << 10, 1 << 20, 4 << 10];
        let stacks: Vec<_> = sizes
            .iter()
            .map(|&bytes| Simulated::stack(bytes).unwrap())
            .collect();
        let bases = |stacks: &[manycore_chip::Stack]| -> Vec<usize> {
            stacks
                .iter()
                .map(|stack| stack.base().get().wrapping_sub(origin))
                .collect()
        };
        let before = bases(&stacks);
        for (stack, bytes) in stacks.iter().zip(sizes) {
            assert!(stack.base().get() - stack.limit().get() > bytes);
        }
        stacks.into_iter().rev().for_each(drop);
        let start = Simulated::now();
        let again: Vec<_> = sizes
            .iter()
            .map(|&bytes| Simulated::stack(bytes).unwrap())
            .collect();
        assert!(Simulated::now() > start);
        assert_eq!(bases(&again), before, "each of its size, and reused");
        before
    };
    run(&machine("atac-64", &[]), program);
    let error = Simulation::new(&machine("atac-64", &[]))
        .run(|| Simulated::stack(usize::MAX).unwrap_err().to_string());
    assert!(error.unwrap().value.contains("no room for another stack"));
}
