//! Random programs about the state that the system keeps for each thread.
//!
//! The seed picks a few kinds of words (operations), so that a failing program is small and has few causes.
//! Between words, ranks work and wait for each other in all ways. After each step, each rank notes the state
//! of its signals (see `prelude.c`). The notes do not depend on luck: the whole output is that of GCC's
//! library.

use super::Random;
use std::fmt::Write;

const PRELUDE: &str = include_str!("prelude.c");

/// A program and the kinds of its words.
pub(crate) struct Program {
    pub(crate) text: String,
    pub(crate) kinds: Vec<Kind>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Blocks and opens signals.
    Masks,
    /// Alternate stacks, and handlers on them.
    Stacks,
    /// Signals with values.
    Values,
    Timers,
    /// `setuid` and its like.
    Identifiers,
    /// The program's own allocator, which has one lock.
    Allocator,
    Yields,
    Mutexes,
    /// Mutexes with and without priority inheritance.
    Inheriting,
    /// GS bases, `sched_getcpu`.
    Kernel,
    /// The program waits for the highest signal.
    Foreign,
    /// The process ends in a region, or by `pthread_exit` of its first thread.
    Ending,
}

const KINDS: [Kind; 12] = [
    Kind::Masks,
    Kind::Stacks,
    Kind::Values,
    Kind::Timers,
    Kind::Identifiers,
    Kind::Allocator,
    Kind::Yields,
    Kind::Mutexes,
    Kind::Inheriting,
    Kind::Kernel,
    Kind::Foreign,
    Kind::Ending,
];

/// Returns the program of a seed. Each kind is the first kind of every twelfth program.
pub(crate) fn program(seed: u64) -> Program {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 2);
    random.below(2);
    let mut kinds = vec![KINDS[(seed % KINDS.len() as u64) as usize]];
    for _ in 0..random.below(3) {
        let next = KINDS[random.below(KINDS.len() as u64) as usize];
        // Not in all programs, since a library may treat priority inheritance in another way.
        if !kinds.contains(&next) && next != Kind::Inheriting {
            kinds.push(next);
        }
    }
    let has = |kind| i32::from(kinds.contains(&kind));
    let lock = has(Kind::Allocator) * (1 + random.below(3) as i32);
    let mut text = format!("#define ALLOCATOR {lock}\n{PRELUDE}int main(void) {{\n");
    let _ = writeln!(
        text,
        "  int me = 0;\n  begin({}, {}, {});",
        has(Kind::Values),
        has(Kind::Foreign),
        if kinds.contains(&Kind::Inheriting) {
            7
        } else {
            4
        }
    );
    if kinds.contains(&Kind::Stacks) {
        let flags = random.one_of(&[
            "SA_ONSTACK",
            "SA_ONSTACK | SA_NODEFER",
            "SA_ONSTACK | SA_NODEFER | SA_RESTART",
        ]);
        let us = 20 + random.below(200);
        let _ = writeln!(text, "  handle({flags}, {us}, {});", 1 + random.below(2));
    }
    text.push_str("  for (round_now = 0; round_now < 5; round_now++) {\n");
    let mut step = 0;
    for _ in 0..2 {
        // The first thread runs these words between regions.
        for _ in 0..2 {
            if let Some(word) = alone(&mut random, &kinds) {
                let _ = writeln!(text, "    STEP({step}, {word});");
                step += 1;
            }
        }
        text.push_str(
            "    P(omp parallel) {\n      int me = omp_get_thread_num(), all = omp_get_num_threads();\n",
        );
        for _ in 0..12 {
            let kind = kinds[random.below(kinds.len() as u64) as usize];
            let word = if random.below(5) < 3 {
                word(&mut random, kind)
            } else {
                None
            };
            let word = word.unwrap_or_else(|| wait(&mut random));
            let _ = writeln!(text, "      STEP({step}, {word});");
            step += 1;
        }
        text.push_str("    }\n");
    }
    text.push_str("  }\n");
    text.push_str(end(seed / KINDS.len() as u64, &kinds));
    text.push_str("}\n");
    Program { text, kinds }
}

/// Returns a way to wait for other ranks.
fn wait(random: &mut Random) -> String {
    let us = [20, 60, 150, 300][random.below(4) as usize];
    let count = 1 + random.below(6);
    match random.below(10) {
        0 | 1 => format!("barrier({us})"),
        2 => format!("barrier({us} * (1 + me % 2))"),
        3 => format!("critical({us} / 4)"),
        4 => format!("locked({us} / 4)"),
        5 => format!("tasks({count}, {us} / 4)"),
        6 => format!("single({count}, {us} / 2)"),
        7 => format!("loop(3 * {count}, {us} / 2)"),
        _ => format!("spin(me); work({us})"),
    }
}

/// Returns the members that run a step.
fn members(random: &mut Random) -> &'static str {
    random.one_of(&[
        "",
        "",
        "if (is_of(me, 2, 0)) ",
        "if (is_of(me, 2, 1)) ",
        "if (is_of(me, all, round_now)) ",
        "if (is_of(me, 3, round_now)) ",
    ])
}

fn word(random: &mut Random, kind: Kind) -> Option<String> {
    let (of, number) = (members(random), random.below(12));
    let us = 20 + random.below(80);
    let how = random.below(3);
    let word = match kind {
        Kind::Masks => match random.below(6) {
            0 => format!("INSIDE({})", wait(random)),
            1 => format!("masked_tasks({}, {number})", 1 + how),
            2 => format!("{of}child(me)"),
            _ => {
                let how = random.one_of(&["SIG_BLOCK", "SIG_BLOCK", "SIG_UNBLOCK", "SIG_SETMASK"]);
                format!("{of}mask(me, {how}, {number} + round_now)")
            }
        },
        Kind::Stacks => match random.below(3) {
            0 => format!("{of}stack(me, ({number} + round_now) % STACKS)"),
            _ => format!("{of}raise(HANDLED)"),
        },
        Kind::Values => match random.below(2) {
            0 => format!("queued(me, {number} + round_now, {how})"),
            _ => format!("{of}give(me, {})", random.below(2)),
        },
        Kind::Timers => format!(
            "{of}timer(me, {}, {}, {how})",
            random.below(2),
            100 + 10 * us
        ),
        Kind::Identifiers => format!("{of}identify(me, {number} + me)"),
        Kind::Allocator => format!(
            "allocate(me, {}, {}, {})",
            1 + how * 2,
            20 + 50 * number,
            random.below(3)
        ),
        Kind::Yields => match random.below(4) {
            0 => format!("pass(me, {}, 0)", 1 + how),
            1 => format!("pass(me, {}, 1)", 1 + how),
            2 => format!("gate(me, {number})"),
            _ => format!("spinlocked(me, {}, {us})", 1 + how),
        },
        Kind::Mutexes => match random.below(5) {
            0 => format!("wait_for(me, 0, {number})"),
            1 => "robust(me, 3)".into(),
            _ => format!("mutex(me, {}, {how}, {}, {us})", number % 4, 1 + how),
        },
        Kind::Inheriting => match random.below(5) {
            0 => format!("wait_for(me, 1, {number})"),
            1 => "robust(me, 6)".into(),
            _ => format!("mutex(me, {}, {how}, {}, {us})", number % 7, 1 + how),
        },
        Kind::Kernel => match random.below(2) {
            0 => format!("{of}segment(me, {number})"),
            _ => "processor(me)".into(),
        },
        Kind::Foreign | Kind::Ending => return None,
    };
    Some(word)
}

/// Returns a word for the first thread between regions.
fn alone(random: &mut Random, kinds: &[Kind]) -> Option<String> {
    let number = random.below(12);
    match kinds[random.below(kinds.len() as u64) as usize] {
        Kind::Masks => Some(format!(
            "mask(0, {}, {number} + round_now)",
            random.one_of(&["SIG_BLOCK", "SIG_UNBLOCK", "SIG_SETMASK"])
        )),
        Kind::Stacks => Some(format!("stack(0, ({number} + round_now) % STACKS)")),
        Kind::Identifiers => Some(format!("identify(0, {number})")),
        Kind::Kernel => Some(format!("segment(0, {number})")),
        Kind::Timers => Some(format!("timer(0, {}, 300, 0)", number % 2)),
        _ => None,
    }
}

/// Returns how the program ends: in turn by `pthread_exit` of its first thread and by `exit` in a region.
fn end(turn: u64, kinds: &[Kind]) -> &'static str {
    if !kinds.contains(&Kind::Ending) {
        return "  show();\n";
    }
    if turn.is_multiple_of(2) {
        "  pthread_t thread;\n  pthread_create(&thread, NULL, last, NULL);\n  pthread_detach(thread);\n  pthread_exit(NULL);\n"
    } else {
        "  P(omp parallel) {\n    P(omp barrier)\n    if (omp_get_thread_num() == omp_get_num_threads() - 1) { show(); exit(0); }\n    for (;;) usleep(1000);\n  }\n"
    }
}
