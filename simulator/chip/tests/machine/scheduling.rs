//! The operating system as programs see it: barriers with more threads than
//! cores, futexes, the ends of threads, and the ends of runs.

use crate::support::{compute_until, machine, machines, named, spawn};
use manycore_chip::config::Config;
use manycore_chip::{Activity, Simulated, Simulation, SimulationError};
use manycore_platform::{
    Atomic, AtomicInteger, CachePadded, Futex, Ordering::SeqCst, Platform, ThreadSpec,
};
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

type Word = <Simulated as Platform>::Futex;

/// A sense-reversing barrier: the last to arrive turns the sense.
struct Barrier {
    arrived: CachePadded<Word>,
    sense: CachePadded<Word>,
    threads: u32,
    sleeps: bool,
}

impl Barrier {
    fn new(threads: u32, sleeps: bool) -> Self {
        Self {
            arrived: CachePadded::new(Word::new(0)),
            sense: CachePadded::new(Word::new(0)),
            threads,
            sleeps,
        }
    }

    fn wait(&self) {
        let sense = self.sense.load(SeqCst);
        if self.arrived.fetch_add(1, SeqCst) + 1 == self.threads {
            self.arrived.store(0, SeqCst);
            self.sense.store(sense + 1, SeqCst);
            if self.sleeps {
                self.sense.wake(u32::MAX);
            }
            return;
        }
        while self.sense.load(SeqCst) == sense {
            if self.sleeps {
                self.sense.wait(sense, None);
            } else {
                Simulated::spin_while(&self.sense, sense, u64::MAX);
            }
        }
    }
}

/// Cycles for `episodes` of a little work and a barrier, in 16 threads.
fn barrier_cycles(machine: &Config, episodes: usize, sleeps: bool, pinned: bool) -> u64 {
    let cores = machine.cores as usize;
    let program = || {
        let barrier = Arc::new(Barrier::new(16, sleeps));
        let team: Vec<_> = (0..16)
            .map(|thread| {
                let barrier = Arc::clone(&barrier);
                let cpus = if pinned { vec![thread % cores] } else { vec![] };
                named(&format!("member {thread}"), cpus, move || {
                    for _ in 0..episodes {
                        Simulated::compute(20_000);
                        barrier.wait();
                    }
                })
            })
            .collect();
        team.into_iter().for_each(Simulated::join);
    };
    let run = Simulation::new(machine).limit(1 << 40).run(program);
    run.unwrap().statistics.cycles
}

/// Table 2 of the reference: on Linux a spinning barrier with one
/// thread too many costs a time slice an episode, a sleeping one hardly more
/// than before.
#[test]
fn a_spinning_barrier_with_a_thread_too_many_costs_a_slice_an_episode() {
    let episodes = 50;
    let on = |cores: &str, sleeps, pinned| {
        let machine = machine("atac-64", &[cores]);
        barrier_cycles(&machine, episodes, sleeps, pinned)
    };
    let slice = machine("atac-64", &[]).os.min_granularity;
    for pinned in [false, true] {
        let (enough, few) = (on("cores=16", false, pinned), on("cores=15", false, pinned));
        let least = episodes as u64 * slice / 4;
        println!("spinning, pinned {pinned}: {few} cycles on 15 cores, {enough} on 16");
        assert!(few > least.max(10 * enough), "{few} on 15, {enough} on 16");
        let (enough, few) = (on("cores=16", true, pinned), on("cores=15", true, pinned));
        println!("sleeping, pinned {pinned}: {few} cycles on 15 cores, {enough} on 16");
        assert!(
            few > enough && few < 3 * enough,
            "{few} on 15, {enough} on 16"
        );
    }
}

#[test]
fn a_timed_wait_ends_in_time_and_a_woken_one_before() {
    for (name, machine) in machines() {
        let slack = machine.os.timer_slack + machine.os.wake_latency + machine.os.deep_latency;
        let costs = machine.os.switch + machine.os.syscall + machine.os.futex_wait + 5_000;
        let program = || {
            let word = Arc::new(Word::new(0));
            let start = Simulated::now();
            word.wait(0, Some(Duration::from_micros(200)));
            let timed = Simulated::now() - start;
            let sleeper = Arc::clone(&word);
            let sleeper = spawn(1, move || {
                sleeper.wait(0, Some(Duration::from_secs(10)));
            });
            Simulated::compute(20_000_000);
            let woken = word.wake(u32::MAX);
            let again = word.wake(u32::MAX);
            Simulated::join(sleeper);
            (timed, woken, again, Simulated::now())
        };
        let run = Simulation::new(&machine).run(program).unwrap();
        let (timed, woken, again, end) = run.value;
        let asked = (200_000.0 * machine.ghz) as u64;
        assert!(
            (asked..=asked + slack + costs).contains(&timed),
            "{name}: {timed} for {asked}"
        );
        assert_eq!((woken, again), (1, 0), "{name}");
        assert!(end < (10e9 * machine.ghz) as u64, "{name}: {end}");
    }
}

#[test]
fn a_deadlock_names_threads_and_what_they_wait_for() {
    let program = || {
        let word = Arc::new(Word::new(0));
        let other = Arc::clone(&word);
        let sleeper = named("sleeper", vec![3], move || other.wait(0, None));
        let other = Arc::clone(&word);
        named("spinner", vec![5], move || {
            Simulated::spin_while(&other, 0, u64::MAX);
        });
        Simulated::join(sleeper);
    };
    let error = Simulation::new(&machine("westmere-ex", &[])).run(program);
    let Err(SimulationError::Deadlock { threads, .. }) = error else {
        panic!("{error:?}");
    };
    let threads: Vec<_> = threads.threads().collect();
    assert_eq!(threads[0], ("main", "waits for thread sleeper"));
    assert_eq!(threads[1].0, "sleeper");
    assert!(
        threads[1].1.starts_with("sleeps on the futex "),
        "{threads:?}"
    );
    assert_eq!(threads[2].0, "spinner");
    assert!(threads[2].1.starts_with("spins on "), "{threads:?}");
    assert!(threads[2].1.ends_with(" on core 5"), "{threads:?}");
}

/// A step of a program.
type Step = fn(&Word);

/// Whatever a program does for ever, it ends at the limit.
#[test]
fn a_runaway_ends_at_the_limit() {
    let forever: [(&str, Step); 8] = [
        ("compute", |_| Simulated::compute(100)),
        ("relax", |_| Simulated::relax()),
        ("load", |word| {
            let _ = word.load(SeqCst);
        }),
        ("add", |word| {
            let _ = word.fetch_add(1, SeqCst);
        }),
        ("wake", |word| {
            let _ = word.wake(1);
        }),
        ("yield", |_| Simulated::yield_now()),
        ("sleep", |word| word.wait(0, Some(Duration::from_micros(1)))),
        ("spin", |word| {
            Simulated::spin_while(word, 0, Simulated::now() + 1_000);
        }),
    ];
    for preset in ["atac-64", "gold5225r", "niagara-2"] {
        for (name, step) in forever {
            let run = Simulation::new(&machine(preset, &[]))
                .limit(3_000_000)
                .run(|| {
                    let word = Word::new(0);
                    loop {
                        step(&word);
                    }
                });
            let error = run
                .map(|run: manycore_chip::Run<()>| run.value)
                .unwrap_err();
            let text = error.to_string();
            assert!(
                text.starts_with("the program still ran after 3000000 cycles: thread main "),
                "{preset}: {name}: {text}"
            );
        }
    }
}

#[test]
fn a_panic_ends_its_own_thread_only() {
    let program = || {
        let word = Arc::new(Word::new(0));
        let other = Arc::clone(&word);
        let doomed = spawn(1, move || {
            other.store(1, SeqCst);
            // `resume_unwind` does not call the panic hook, which would print.
            std::panic::resume_unwind(Box::new("oh"));
        });
        Simulated::join(doomed);
        word.fetch_add(1, SeqCst) + 1
    };
    let run = Simulation::new(&machine("atac-64", &[])).run(program);
    assert_eq!(run.unwrap().value, 2);
}

#[test]
fn a_core_that_does_not_exist_is_an_error() {
    let program = || {
        let spec = ThreadSpec {
            cpus: vec![3, 64],
            ..ThreadSpec::default()
        };
        let error = Simulated::spawn(spec, Box::new(|| ())).unwrap_err();
        (error.kind(), error.to_string())
    };
    let run = Simulation::new(&machine("atac-64", &[])).run(program);
    let text = "core 64 of a simulated machine with 64 cores".to_owned();
    assert_eq!(run.unwrap().value, (ErrorKind::InvalidInput, text));
}

/// A thread that computes for many slices gives up its core when its slice is
/// over, whatever it does when it has computed.
#[test]
fn a_long_computation_is_interrupted_whatever_follows_it() {
    let follow: [(&str, Step); 8] = [
        ("the end", |_| ()),
        ("load", |word| assert_eq!(word.load(SeqCst), 0)),
        ("fence", |_| Simulated::fence(SeqCst)),
        ("relax", |_| Simulated::relax()),
        ("wait", |word| word.wait(0, Some(Duration::from_micros(1)))),
        ("wake", |word| assert_eq!(word.wake(1), 0)),
        ("yield", |_| Simulated::yield_now()),
        ("spawn", |_| Simulated::join(spawn(2, || ()))),
    ];
    for preset in ["atac-64", "gold5225r", "niagara-2"] {
        let machine = machine(preset, &["core.cpi=1"]);
        let slice = machine.os.latency + machine.os.tick;
        for (name, step) in follow {
            let program = move || {
                let long = spawn(1, move || {
                    Simulated::compute(20 * slice);
                    step(&Word::new(0));
                });
                Simulated::compute(slice / 2);
                let start = Simulated::now();
                Simulated::join(spawn(1, || Simulated::compute(1_000)));
                let short = Simulated::now() - start;
                Simulated::join(long);
                (short, Simulated::now())
            };
            let run = Simulation::new(&machine).limit(1 << 40).run(program);
            let (short, end) = run.unwrap().value;
            assert!(
                short < 2 * slice,
                "{preset}: {name}: {short} of {slice} a slice"
            );
            let whole = 20 * slice..21 * slice;
            assert!(whole.contains(&end), "{preset}: {name}: {end}");
        }
    }
}

/// Each thread makes two, which it joins.
fn tree(depth: u32, count: &Arc<Word>) {
    count.fetch_add(1, SeqCst);
    if depth == 0 {
        return;
    }
    let children = [0, 1].map(|_| {
        let count = Arc::clone(count);
        named("child", vec![], move || tree(depth - 1, &count))
    });
    children.into_iter().for_each(Simulated::join);
}

#[test]
fn threads_make_threads() {
    for (name, machine) in machines() {
        let program = || {
            let count = Arc::new(Word::new(0));
            tree(6, &count);
            count.load(SeqCst)
        };
        let run = Simulation::new(&machine).limit(1 << 40).run(program);
        let run = run.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(run.value, 127, "{name}");
        assert_eq!(run.statistics.threads, 127, "{name}");
    }
}

#[test]
fn the_run_ends_with_its_main_thread() {
    for (name, machine) in machines() {
        let program = || {
            let word = Arc::new(Word::new(0));
            for core in 1..4 {
                let word = Arc::clone(&word);
                spawn(core, move || match core {
                    1 => loop {
                        word.fetch_add(1, SeqCst);
                    },
                    2 => loop {
                        Simulated::compute(1_000_000_000);
                        word.load(SeqCst);
                    },
                    _ => word.wait(0, None),
                });
            }
            Simulated::compute(1_000_000);
            word.load(SeqCst)
        };
        let run = Simulation::new(&machine)
            .limit(1 << 40)
            .run(program)
            .unwrap();
        assert!(run.value > 1_000, "{name}: {}", run.value);
        for (core, spent) in run.statistics.report.cores.iter().enumerate() {
            assert_eq!(spent.sum(), run.statistics.cycles, "{name}: core {core}");
        }
    }
}

/// A fence on all cores takes from its caller what the others cost it, and
/// from each thread that runs elsewhere an interrupt, whatever it does.
#[test]
fn a_heavy_fence_interrupts_running_cores() {
    let machine = machine("dahu", &["core.cpi=1"]);
    let fence = |computing: usize, spinning: usize| {
        let program = move || {
            let word = Arc::new(CachePadded::new(Word::new(0)));
            let at = Simulated::now() + 1_000_000;
            let spinner = |core| {
                let word = Arc::clone(&word);
                spawn(core, move || {
                    Simulated::spin_while(&word, 0, u64::MAX);
                })
            };
            let spinners: Vec<_> = (16..16 + spinning).map(spinner).collect();
            let worker = |core| spawn(core, move || compute_until(2 * at, 1.0));
            let workers: Vec<_> = (1..1 + computing).map(worker).collect();
            compute_until(at, 1.0);
            let from = Simulated::now();
            Simulated::heavy_fence();
            let took = Simulated::now() - from;
            workers.into_iter().for_each(Simulated::join);
            word.store(1, SeqCst);
            spinners.into_iter().for_each(Simulated::join);
            took
        };
        let run = Simulation::new(&machine).limit(1 << 40).run(program);
        let run = run.unwrap();
        let others = run.statistics.report.cores[1..].iter();
        let switching: Vec<_> = others.map(|core| core[Activity::Switch]).collect();
        (run.value, switching, run.statistics.hash)
    };
    let (os, alone) = (&machine.os, machine.os.syscall + machine.atomics.fence);
    assert_eq!(fence(0, 0).0, alone);
    for (computing, spinning) in [(1, 0), (0, 2), (5, 7)] {
        let (took, switching, hash) = fence(computing, spinning);
        let interrupted = (computing + spinning) as u64;
        assert_eq!(took, alone + interrupted * os.ipi + os.interrupt);
        for (core, &cycles) in (1..).zip(&switching) {
            let runs = (1..1 + computing).contains(&core) || (16..16 + spinning).contains(&core);
            let expected = if runs { os.switch + os.interrupt } else { 0 };
            assert_eq!(cycles, expected, "core {core}");
        }
        assert_eq!(fence(computing, spinning).2, hash);
    }
}

/// Threads that were let loose from one core are spread by the cores that idle, within a
/// few rounds of periodic balancing: such a core never becomes idle anew.
#[test]
fn idle_cores_find_what_waits_elsewhere() {
    let machine = machine("e5-2640x2", &[]);
    let cycles = (0.05 * machine.ghz * 1e9) as u64;
    let program = |threads: usize| {
        let work = (cycles as f64 / machine.core.cpi) as u64;
        move || {
            let spawn = |_| named("member", vec![0], move || Simulated::compute(work));
            let team: Vec<_> = (0..threads).map(spawn).collect();
            for &thread in &team {
                Simulated::set_affinity(thread, &[]).unwrap();
            }
            team.into_iter().for_each(Simulated::join);
        }
    };
    let run = |threads| {
        Simulation::new(&machine)
            .limit(1 << 40)
            .run(program(threads))
    };
    let (one, three) = (run(1).unwrap(), run(3).unwrap());
    let (one, three) = (one.statistics.cycles, three.statistics.cycles);
    assert!(
        three < one + one / 2,
        "{three} cycles, where one takes {one}"
    );
}
