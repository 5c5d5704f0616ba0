//! A simulated spinner costs the host no work. To the program, it must seem as if the spinner looked each time.

use crate::support::{compute_until, machine, named, spawn};
use manycore_chip::{Activity, Simulated, Simulation};
use manycore_platform::{Atomic, Futex, Ordering::SeqCst, Platform};
use std::sync::Arc;

type Word = <Simulated as Platform>::Futex;

/// A thread of the same core writes while the answer to the spinner's first look is under way.
#[test]
fn a_sibling_writes_during_the_first_look() {
    let machine = machine("gold5225r", &["threads-per-core=2"]);
    let cpi = machine.core.cpi;
    for delay in (0..600).step_by(5) {
        let program = move || {
            let word = Arc::new(Word::new(0));
            let start = Simulated::now() + 1_000_000;
            let spinner = Arc::clone(&word);
            let spinner = spawn(2, move || {
                compute_until(start, cpi);
                assert_eq!(Simulated::spin_while(&spinner, 0, u64::MAX), 1);
            });
            let writer = spawn(3, move || {
                compute_until(start, cpi);
                Simulated::compute(delay);
                word.store(1, SeqCst);
            });
            Simulated::join(spinner);
            Simulated::join(writer);
        };
        if let Err(error) = Simulation::new(&machine).run(program) {
            panic!("after {delay} instructions: {error}");
        }
    }
}

/// The spinner is preempted after its look. Another thread of the core writes before the spinner continues.
#[test]
fn another_thread_of_the_core_writes_after_the_look() {
    let settings = ["os.min-granularity=3000", "os.latency=6000"];
    let mut machine = machine("gold5225r", &settings);
    let os = &mut machine.os;
    (os.tick, os.tick_cost, os.switch, os.spawn) = (1_000, 10, 50, 100);
    for delay in (0..600).step_by(5) {
        let program = move || {
            let word = Arc::new(Word::new(0));
            let spinner = Arc::clone(&word);
            // The second thread of a queue has the shorter slice, and goes first.
            let writer = named("writer", vec![2], move || {
                Simulated::compute(1_000);
                word.store(1, SeqCst);
            });
            let spinner = named("spinner", vec![2], move || {
                Simulated::compute(20 * delay);
                assert_eq!(Simulated::spin_while(&spinner, 0, u64::MAX), 1);
            });
            Simulated::join(spinner);
            Simulated::join(writer);
        };
        if let Err(error) = Simulation::new(&machine).run(program) {
            panic!("after {delay} x 20 instructions: {error}");
        }
    }
}

/// This spinner looks in a loop of its own, and does not park.
#[test]
fn a_look_in_a_loop_sees_the_store() {
    for preset in ["atac-64", "gold5225r", "niagara-2"] {
        let program = || {
            let word = Arc::new(Word::new(0));
            let looker = Arc::clone(&word);
            let looker = spawn(1, move || {
                while looker.load(SeqCst) == 0 {
                    Simulated::relax();
                }
            });
            Simulated::compute(1_000_000);
            word.store(1, SeqCst);
            Simulated::join(looker);
        };
        let run = Simulation::new(&machine(preset, &[]))
            .limit(1 << 30)
            .run(program);
        assert!(run.is_ok(), "{preset}: {run:?}");
    }
}

/// A thread that wakes or starts another thread, and then looks in a loop, lets that thread run.
#[test]
fn looking_in_a_loop_after_a_wake_or_a_spawn() {
    let program = || {
        let word = Arc::new(Word::new(0));
        let other = Arc::clone(&word);
        spawn(1, move || {
            other.store(1, SeqCst);
            other.wait(1, None);
            other.store(3, SeqCst);
        });
        while word.load(SeqCst) == 0 {
            Simulated::relax();
        }
        Simulated::compute(1_000_000);
        word.store(2, SeqCst);
        word.wake(1);
        while word.load(SeqCst) == 2 {
            Simulated::relax();
        }
        word.load(SeqCst)
    };
    for preset in ["atac-64", "gold5225r"] {
        let run = Simulation::new(&machine(preset, &[]))
            .limit(1 << 30)
            .run(program);
        assert_eq!(run.unwrap().value, 3, "{preset}");
    }
}

/// If the cache evicts the spinner's line, the spinner's wait does not end, and the spinner still sees the next write.
#[test]
fn the_line_is_evicted_by_a_sibling() {
    let mut machine = machine("gold5225r", &["threads-per-core=2"]);
    let line = u64::from(machine.line);
    (machine.l1.ways, machine.l1.size) = (1, line);
    if let Some(l2) = &mut machine.l2 {
        (l2.ways, l2.size) = (1, line);
    }
    let program = || {
        let words = Arc::new([0; 64].map(Word::new));
        let spinning = Arc::clone(&words);
        let spinner = spawn(2, move || {
            assert_eq!(Simulated::spin_while(&spinning[0], 0, u64::MAX), 1);
        });
        let sibling = Arc::clone(&words);
        let sibling = spawn(3, move || {
            for round in 0..1_000 {
                sibling[16 + round % 48].load(SeqCst);
                Simulated::compute(50);
            }
        });
        Simulated::compute(500_000);
        words[0].store(1, SeqCst);
        Simulated::join(spinner);
        Simulated::join(sibling);
    };
    let run = Simulation::new(&machine)
        .limit(1 << 30)
        .run(program)
        .unwrap();
    let spun = run.statistics.report.cores[2][Activity::Spin];
    assert!(spun > 100_000, "{spun}");
}

/// If no thread writes, a wait with a time limit ends at the exact cycle.
#[test]
fn patience_ends() {
    let program = || {
        let word = Word::new(7);
        word.load(SeqCst);
        let until = Simulated::now() + 12_345;
        assert_eq!(Simulated::spin_while(&word, 7, until), 7);
        Simulated::now() - until
    };
    for preset in ["atac-64", "gold5225r"] {
        let machine = machine(preset, &[]);
        let late = Simulation::new(&machine).run(program).unwrap().value;
        assert!(late <= machine.l1.latency, "{preset}: {late}");
    }
}

/// The writer has a read-only copy, so it asks the line's home. The home takes the line from all other cores, but not
/// from the writer's sibling.
#[test]
fn a_sibling_writes_a_line_that_others_read() {
    let machine = machine("gold5225r", &["threads-per-core=2"]);
    let program = || {
        let word = Arc::new(Word::new(0));
        let team = [0, 2, 3].map(|core| {
            let word = Arc::clone(&word);
            spawn(core, move || {
                Simulated::compute(10_000 * core as u64);
                word.load(SeqCst);
                if core == 3 {
                    Simulated::compute(10_000);
                    word.store(1, SeqCst);
                } else {
                    Simulated::spin_while(&word, 0, u64::MAX);
                }
            })
        });
        team.into_iter().for_each(Simulated::join);
    };
    let run = Simulation::new(&machine).limit(1 << 30).run(program);
    assert!(run.is_ok(), "{run:?}");
}

/// The clock interrupt takes its time from a thread that spins, too.
#[test]
fn a_spinner_pays_for_clock_interrupts() {
    let machine = machine("dahu", &[]);
    let run = Simulation::new(&machine).run(|| {
        let word = Arc::new(<Simulated as Platform>::Futex::new(0));
        let crowd: Vec<_> = (0..2)
            .map(|_| spawn(1, || Simulated::compute(400_000_000)))
            .collect();
        let theirs = Arc::clone(&word);
        let spinner = spawn(2, move || {
            Simulated::spin_while(&theirs, 0, 100_000_000);
        });
        Simulated::join(spinner);
        crowd.into_iter().for_each(Simulated::join);
    });
    let report = run.unwrap().statistics.report;
    let ticks = 90_000_000 / machine.os.tick;
    let switched = report.cores[2][Activity::Switch];
    let least = machine.os.switch + ticks * machine.os.tick_cost;
    assert!(switched >= least, "{switched}, not {least}");
}
