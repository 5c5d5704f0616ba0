//! Tests random operations.

use super::super::scheduler::State;
use super::super::*;
use super::linux;
use crate::core_set::CoreSet;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Op {
    Spawn(CoreSet),
    Wake(u32),
    Block,
    Exit,
    Yield,
    Tick(Cycles),
    Balance,
    Affinity(u32, CoreSet),
}

fn op(cores: u32) -> impl Strategy<Value = Op> {
    let set = prop::collection::btree_set(0..cores, 1..4)
        .prop_map(|cores| cores.into_iter().collect::<CoreSet>())
        .boxed();
    prop_oneof![
        2 => set.clone().prop_map(Op::Spawn),
        3 => any::<u32>().prop_map(Op::Wake),
        2 => Just(Op::Block),
        1 => Just(Op::Exit),
        1 => Just(Op::Yield),
        3 => (0u64..20_000).prop_map(Op::Tick),
        2 => Just(Op::Balance),
        1 => (any::<u32>(), set).prop_map(|(thread, set)| Op::Affinity(thread, set)),
    ]
}

/// Checks that every thread is in one place, that no core has a forbidden thread, and that all counts match the queues.
fn check(os: &Scheduler) {
    let mut seen = vec![0; os.threads.len()];
    for core in os.machine() {
        let queued = os
            .core(core)
            .queue
            .iter()
            .map(|thread| (thread, State::Queued));
        let running = os.running(core).map(|thread| (thread, State::Running));
        for (thread, state) in queued.chain(running) {
            let this = &os.threads[thread as usize];
            assert_eq!((this.state, this.core), (state, core));
            assert!(this.affinity.contains(core));
            seen[thread as usize] += 1;
        }
        assert!(!os.is_idle(core) || os.runnable(core) == 0);
        assert!(os.running(core).is_none() || os.idle_since(core).is_none());
    }
    for (thread, &places) in os.threads.iter().zip(&seen) {
        let runnable = matches!(thread.state, State::Running | State::Queued);
        assert_eq!(places, i32::from(runnable));
    }
    for (group, &count) in os.groups.iter().enumerate() {
        assert_eq!(
            count,
            os.span(group).map(|core| os.runnable(core)).sum::<u32>()
        );
    }
}

proptest! {
    #[test]
    fn every_thread_is_in_one_allowed_place(
        group_cores in 1u32..7,
        late in any::<bool>(),
        ops in prop::collection::vec((0u32..6, 0u64..3_000, op(6)), 1..150),
    ) {
        let mut os = Scheduler::new(&linux(), 6, group_cores);
        let mut now = 0;
        for (core, time, op) in ops {
            now += time;
            let in_state = |os: &Scheduler, n: u32, wanted: State| {
                let ids: Vec<_> = (0..os.threads.len() as u32)
                    .filter(|&t| os.threads[t as usize].state == wanted).collect();
                (!ids.is_empty()).then(|| ids[n as usize % ids.len()])
            };
            let mut owed = None;
            match op {
                Op::Spawn(set) => {
                    let id = in_state(&os, 0, State::Absent).unwrap_or(os.threads.len() as u32);
                    owed = Some(os.spawn(id, set, core));
                }
                Op::Wake(n) => if let Some(id) = in_state(&os, n, State::Blocked) {
                    owed = Some(os.wake(id, core));
                },
                Op::Balance => {
                    owed = os.balance(now - time, now, core).map(|pulled| pulled.to);
                }
                Op::Affinity(n, set) => {
                    let wanted = [State::Running, State::Queued, State::Blocked][n as usize % 3];
                    if let Some(id) = in_state(&os, n, wanted)
                        && let Some(moved) = os.set_affinity(now, id, set)
                    {
                        prop_assert_eq!(moved.was_running, wanted == State::Running);
                        if moved.was_running {
                            check(&os);
                            os.pick(now, moved.from);
                        }
                        // The pick may have pulled the moved thread to yet another core.
                        owed = Some(moved.to).filter(|to| to.idle);
                    }
                }
                _ if os.running(core).is_none() => { os.pick(now, core); }
                Op::Block => { os.block(now, core); os.pick(now, core); }
                Op::Exit => { os.exit(now, core); os.pick(now, core); }
                Op::Yield => { os.yield_now(now, core); os.pick(now, core); }
                Op::Tick(ran) => {
                    os.ran(core, ran);
                    if os.tick(core) { os.requeue(now, core); os.pick(now, core); }
                }
            }
            check(&os);
            // The engine may delay the pick of a woken idle core.
            if let Some(to) = owed {
                if to.preempts && os.running(to.core).is_some() {
                    os.requeue(now, to.core);
                    os.pick(now, to.core);
                } else if to.idle && !late && os.running(to.core).is_none() {
                    prop_assert!(os.pick(now, to.core).is_some());
                }
            }
            check(&os);
        }
    }
}
