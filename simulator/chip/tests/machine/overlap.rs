//! Plain stores and prefetched lines that a core does not wait for, and far atomics. They save time, and change nothing
//! but times.

use crate::support::{OVERLAP, compute_until, machine, spawn};
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering::SeqCst, Platform};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

type Word = <Simulated as Platform>::AtomicU64;

#[repr(align(4096))]
struct Page([u8; 4096]);

/// Machines of each kind of network and cache, changed by `setting`.
fn with(setting: &str) -> Vec<Config> {
    let presets = [
        "gold5225r",
        "westmere-ex",
        "graviton2-64",
        "atac-64",
        "niagara-2",
    ];
    presets.map(|preset| machine(preset, &[setting])).into()
}

const WIDE: &str =
    "core.overlap={lines=32, store-buffer=16, streams=8, distance=16, whole-lines=false}";

/// Threads read and write lines of one small array, mostly in order, and count on words beside it. Returns the cycles
/// and the count.
fn mixture(machine: &Config, seed: u64) -> (u64, u64, u64) {
    let run = Simulation::new(machine).run(|| {
        let count = Arc::new(CachePadded::new(Word::new(0)));
        let array: Arc<Vec<Page>> = Arc::new((0..3).map(|_| Page([0; 4096])).collect());
        let team: Vec<_> = (0..4)
            .map(|core| {
                let (count, array) = (Arc::clone(&count), Arc::clone(&array));
                spawn(core, move || {
                    let mut rng = fastrand::Rng::with_seed(seed * 64 + core as u64);
                    let mut own = vec![0_u8; 1024];
                    let mut at = 0;
                    for _ in 0..150 {
                        at = match rng.u8(..8) {
                            0 => rng.usize(..3 * 4096),
                            1 => at.saturating_sub(64),
                            _ => (at + 64) % (3 * 4096),
                        };
                        match rng.u8(..8) {
                            0 => _ = count.fetch_add(1, SeqCst),
                            1 => _ = count.load(SeqCst),
                            2 => Simulated::write(&mut own),
                            3 => Simulated::compute(rng.u64(..300)),
                            _ => Simulated::read(&array[at / 4096].0[at % 4096..][..1]),
                        }
                        if rng.u8(..8) == 0 {
                            count.fetch_add(1, SeqCst);
                        }
                    }
                })
            })
            .collect();
        team.into_iter().for_each(Simulated::join);
        count.load(SeqCst)
    });
    let run = run.unwrap_or_else(|error| panic!("{}, seed {seed}: {error}", machine.name));
    (run.statistics.hash, run.statistics.cycles, run.value)
}

#[test]
fn random_mixtures_count_right_and_run_the_same_again() {
    for setting in [OVERLAP, WIDE] {
        for machine in with(setting) {
            for seed in 0..6 {
                let first = mixture(&machine, seed);
                assert_eq!(mixture(&machine, seed), first, "{}", machine.name);
                let mut waiting = machine.clone();
                waiting.core.overlap = None;
                assert_eq!(mixture(&waiting, seed).2, first.2, "{}", machine.name);
            }
        }
    }
}

/// Cycles of core 0 to read, or write, lines that it used before and that no cache has any more.
fn walk(machine: &Config, write: bool) -> u64 {
    let mut machine = machine.clone();
    machine.memory.channels = 1;
    let line = u64::from(machine.line);
    if let Some(l2) = &mut machine.l2 {
        l2.size = u64::from(l2.ways) * line * 16;
    }
    (machine.l1.size, machine.l1.ways) = (line * 32, 2);
    if let Some(llc) = &mut machine.llc {
        llc.size = u64::from(llc.ways) * line * 16;
    }
    let run = Simulation::new(&machine).run(|| {
        let mut array: Vec<Page> = (0..64).map(|_| Page([0; 4096])).collect();
        for page in &mut array {
            Simulated::write(&mut page.0);
        }
        let start = Simulated::now();
        for page in &mut array {
            match write {
                true => Simulated::write(&mut page.0),
                false => Simulated::read(&page.0),
            }
        }
        Simulated::now() - start
    });
    run.unwrap().value
}

#[test]
fn a_walk_through_memory_is_faster_by_either_and_by_each_alone_only_its_own() {
    for machine in with(WIDE) {
        let time = |setting: Option<&str>, write| {
            let mut machine = machine.clone();
            match setting {
                None => machine.core.overlap = None,
                Some(setting) => machine.set(setting).unwrap(),
            }
            walk(&machine, write)
        };
        let name = &machine.name;
        let [reads, writes] = [false, true].map(|write| time(None, write));
        let no_stores = Some("core.overlap.store-buffer=0");
        let no_streams = Some("core.overlap.streams=0");
        // The controllers' queues hold slightly different remains of the first walk.
        let same = |found: u64, expected: u64| found.abs_diff(expected) < expected / 50;
        let read = [time(no_stores, false), time(no_streams, false)];
        let written = [time(no_streams, true), time(no_stores, true)];
        assert!(2 * read[0] < reads, "{name}: {read:?}, {reads}");
        assert!(same(read[1], reads), "{name}: {read:?}, {reads}");
        assert!(2 * written[0] < writes, "{name}: {written:?}, {writes}");
        assert!(same(written[1], writes), "{name}: {written:?}, {writes}");
    }
}

/// An atomic store releases nothing before the earlier stores are visible.
#[test]
fn an_atomic_store_waits_for_the_store_buffer() {
    for machine in with(WIDE) {
        let run = Simulation::new(&machine).run(|| {
            let flag = CachePadded::new(Word::new(0));
            flag.store(1, SeqCst);
            let mut lines = Box::new(Page([0; 4096]));
            let start = Simulated::now();
            Simulated::write(&mut lines.0[..512]);
            let issued = Simulated::now() - start;
            flag.store(2, SeqCst);
            (issued, Simulated::now() - start)
        });
        let (issued, released) = run.unwrap().value;
        let least = machine.memory.latency;
        assert!(issued < least, "{}: {issued}", machine.name);
        assert!(released >= least, "{}: {released}", machine.name);
    }
}

/// So does a fence that orders all accesses: the core's own, and the one on all cores.
#[test]
fn a_fence_waits_for_the_store_buffer() {
    for machine in with(WIDE) {
        for heavy in [false, true] {
            let run = Simulation::new(&machine).run(|| {
                let mut lines = Box::new(Page([0; 4096]));
                let start = Simulated::now();
                Simulated::write(&mut lines.0[..512]);
                let issued = Simulated::now() - start;
                match heavy {
                    false => Simulated::fence(SeqCst),
                    true => Simulated::heavy_fence(),
                }
                let fenced = Simulated::now() - start;
                // Nothing is on its way any more.
                Simulated::fence(SeqCst);
                (issued, fenced, Simulated::now() - start - fenced)
            });
            let (issued, fenced, again) = run.unwrap().value;
            let least = machine.memory.latency;
            assert!(issued < least, "{}: {issued}", machine.name);
            assert!(fenced >= least, "{}: {fenced}", machine.name);
            assert_eq!(again, machine.atomics.fence, "{}", machine.name);
        }
    }
}

/// The fence on all cores is over when the other cores' earlier stores are done.
#[test]
fn a_fence_on_all_cores_waits_for_the_store_buffers_of_the_others() {
    let settings = [
        "memory.latency=20_000",
        "os.ipi=1",
        "os.interrupt=1",
        "core.cpi=1",
    ];
    let machine = machine("gold5225r", &settings);
    let run = Simulation::new(&machine).run(|| {
        let start = Simulated::now() + 1_000_000;
        let (ended, stored) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (ends, stores) = (Arc::clone(&ended), Arc::clone(&stored));
        let mut lines = Box::new(Page([0; 4096]));
        let other = spawn(3, move || {
            compute_until(start, 1.0);
            Simulated::write(&mut lines.0[..512]);
            stores.store(Simulated::now(), Relaxed);
            // Later stores do not delay the fence.
            for later in lines.0[512..].chunks_mut(64) {
                Simulated::compute(10_000);
                Simulated::write(later);
            }
            ends.store(Simulated::now(), Relaxed);
        });
        compute_until(start + 5_000, 1.0);
        Simulated::heavy_fence();
        let fenced = Simulated::now();
        Simulated::join(other);
        let (stored, ended) = (stored.load(Relaxed), ended.load(Relaxed));
        [stored - start, fenced - start, ended - start]
    });
    let [stored, fenced, ended] = run.unwrap().value;
    let latency = machine.memory.latency;
    assert!(stored < 5_000, "{stored}");
    assert!(fenced >= latency && fenced < 2 * latency, "{fenced}");
    assert!(ended > 10 * latency, "{ended}");
}

/// Returns the nanoseconds of an addition by one of `threads` cores, and the final count.
fn additions(machine: &Config, threads: usize, each: u64) -> (f64, u64) {
    let run = Simulation::new(machine).run(|| {
        let count = Arc::new(CachePadded::new(Word::new(0)));
        let spent = Arc::new(AtomicU64::new(0));
        let start = Simulated::now() + 3 * threads as u64 * machine.os.spawn + 100_000;
        let team: Vec<_> = (0..threads)
            .map(|core| {
                let (count, spent) = (Arc::clone(&count), Arc::clone(&spent));
                spawn(core, move || {
                    while Simulated::now() < start {
                        Simulated::compute(100);
                    }
                    let start = Simulated::now();
                    (0..each).for_each(|_| _ = count.fetch_add(1, SeqCst));
                    spent.fetch_add(Simulated::now() - start, Relaxed);
                })
            })
            .collect();
        team.into_iter().for_each(Simulated::join);
        let ns = spent.load(Relaxed) as f64 / machine.ghz;
        (ns / (threads as u64 * each) as f64, count.load(SeqCst))
    });
    run.unwrap().value
}

/// Far additions queue at the line's home only for their execution. Near additions also queue for the line's transfers.
#[test]
fn contended_far_additions_are_a_straight_line_of_the_homes_pace() {
    let far = machine("graviton2-64", &[]);
    let pace = far.atomics.at_home.unwrap() as f64 / far.ghz;
    for threads in [4, 8, 16, 32] {
        let (ns, counted) = additions(&far, threads, 200);
        assert_eq!(counted, threads as u64 * 200);
        let line = threads as f64 * pace;
        assert!((ns / line - 1.0).abs() < 0.1, "{threads}: {ns}, not {line}");
    }
    let mut near = far.clone();
    near.atomics.kind = manycore_chip::config::AtomicKind::Near;
    let (near, far) = (additions(&near, 8, 200).0, additions(&far, 8, 200).0);
    assert!(near > 2.0 * far, "{near}, {far}");
}

#[test]
fn a_counter_of_one_thread_lives_in_its_cache() {
    let far = machine("graviton2-64", &[]);
    let (ns, counted) = additions(&far, 1, 500);
    let hit = (far.l1.latency + far.atomics.faa) as f64 / far.ghz;
    assert_eq!(counted, 500);
    assert!(ns < 1.2 * hit, "{ns}, {hit}");
}

/// The counters say how often a program misses, whether the core waits for its stores or not.
#[test]
fn buffered_stores_are_counted_as_misses() {
    let unbuffered = WIDE.replace("store-buffer=16", "store-buffer=0");
    for (buffered, waiting) in with(WIDE).iter().zip(with(&unbuffered)) {
        let [[misses, instructions, cycles], of_waiting] = [buffered, &waiting].map(|machine| {
            let run = Simulation::new(machine).counters().run(|| {
                let before = Simulated::counters().expect("asked for");
                let mut array = vec![0_u8; 1 << 16];
                Simulated::write(&mut array);
                let total = Simulated::counters()
                    .expect("asked for")
                    .since(&before)
                    .total();
                [total.l1.misses, total.instructions, Simulated::now()]
            });
            run.unwrap().value
        });
        let still_buffered = of_waiting[0] - misses;
        assert!(
            still_buffered <= 16 && misses > 500,
            "{misses}, {of_waiting:?}"
        );
        assert_eq!(instructions, of_waiting[1]);
        assert!(cycles < of_waiting[2]);
    }
}

/// Additions at the home of a line that another group's cores do: each one travels to the home.
#[test]
fn far_additions_of_another_group_travel_to_the_home() {
    let machine = machine("gold5225r", &["atomics.kind=far"]);
    let class = 81; // cycles from socket to socket
    let run = Simulation::new(&machine).run(|| {
        let word = Arc::new(CachePadded::new(Word::new(0)));
        word.store(1, SeqCst);
        let mut times = Vec::new();
        for turn in 0..12 {
            // Two cores of the other socket take turns. Each fourth addition is of the home's socket.
            let core = [24, 30, 24, 3][turn % 4];
            let word = Arc::clone(&word);
            let time = Arc::new(AtomicU64::new(0));
            let took = Arc::clone(&time);
            Simulated::join(spawn(core, move || {
                let start = Simulated::now();
                word.fetch_add(1, SeqCst);
                time.store(Simulated::now() - start, Relaxed);
            }));
            times.push((core, took.load(Relaxed)));
        }
        times
    });
    for (core, time) in run.unwrap().value.into_iter().skip(1) {
        let crosses = core >= 24;
        assert_eq!(time >= 2 * class, crosses, "core {core}: {time}");
    }
}
