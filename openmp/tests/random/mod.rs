//! Random OpenMP programs whose results are known.
//!
//! A program keeps two sums. In each construct, all members of the team add to the first sum, in iterations, tasks
//! or sections. One thread adds the expected amount to the second. Constructs are nested as the language allows,
//! and some run at the same time. If both sums agree at each step, the program exits with 0.

mod loops;
mod reductions;
pub(crate) mod system;
mod tasks;

use std::fmt::Write;

/// A small random generator. On every host, a seed gives the same numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % bound
    }

    pub(crate) fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }
}

/// A construct for all members of a region.
struct Construct {
    text: String,
    /// The amount that it adds to `sum`: an expression over `T`, the size of the team.
    sum: String,
    /// Whether members write common data without an atomic: then nothing else may run meanwhile.
    alone: bool,
}

impl Construct {
    fn new(text: String, sum: impl ToString) -> Self {
        Self {
            text,
            sum: sum.to_string(),
            alone: false,
        }
    }

    fn alone(text: String, sum: impl ToString) -> Self {
        Self {
            alone: true,
            ..Self::new(text, sum)
        }
    }
}

fn schedule(random: &mut Random) -> &'static str {
    random.one_of(&[
        "static",
        "static, 3",
        "dynamic",
        "dynamic, 4",
        "guided",
        "monotonic: dynamic, 2",
        "runtime",
        "auto",
    ])
}

fn sum_below(n: u64) -> u64 {
    n * (n - 1) / 2
}

fn construct(random: &mut Random) -> Construct {
    match random.below(3) {
        0 => loops::construct(random),
        1 => tasks::construct(random),
        _ => reductions::construct(random),
    }
}

/// The start of each program. `P` is a pragma, `ADD` adds to the sum from any thread.
const PRELUDE: &str = r#"
#include <omp.h>
#include <stdio.h>
#define P(...) _Pragma(#__VA_ARGS__)
#define ADD _Pragma("omp atomic") sum +=
static long sum, want, turn, last, locked, chain[64], red, most, many[9]; static int bad;
static omp_lock_t lock; static omp_nest_lock_t nest; static __thread int mine = -1;
static long copied; P(omp threadprivate(copied))
struct wide { long words[9]; };
static struct wide wide;
static void wide_begin(struct wide *w) { for (int i = 0; i < 9; i++) w->words[i] = 0; }
static void wide_add(struct wide *to, struct wide *from) { for (int i = 0; i < 9; i++) to->words[i] += from->words[i]; }
P(omp declare reduction(merge: struct wide: wide_add(&omp_out, &omp_in)) initializer(wide_begin(&omp_priv)))
static void check(int line) { if (sum != want || bad) { printf("line %d: %ld, expected %ld (%d)\n", line, sum, want, bad); bad = 1; } }
static long fib(int n) { long a, b; if (n < 2) return n;
P(omp task shared(a) if(n > 4) untied) a = fib(n - 1);
P(omp task shared(b) final(n < 4) mergeable) b = fib(n - 2);
P(omp taskwait) return a + b; }
"#;

/// Returns the program of a seed.
pub(crate) fn program(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
    let mut text = String::from(PRELUDE);
    text.push_str("int main(void) { omp_init_lock(&lock); omp_init_nest_lock(&nest);\n");
    if random.below(2) == 0 {
        text.push_str("omp_set_max_active_levels(2);\n");
    }
    text.push_str("for (int round = 0; round < 6; round++) {\n");
    for _ in 0..3 {
        region(&mut random, &mut text);
    }
    text.push_str("} return bad; }\n");
    text
}

/// Writes a region with some constructs, and the checks between them.
fn region(random: &mut Random, text: &mut String) {
    text.push_str(
        "copied = round; P(omp parallel copyin(copied)) { int T = omp_get_num_threads(); \
         mine = omp_get_thread_num(); if (copied != round) bad = 1; copied = -1;\n",
    );
    let mut more = String::from("0");
    for _ in 0..8 {
        let next = construct(random);
        text.push_str(&next.text);
        text.push('\n');
        let _ = write!(more, " + {}", next.sum);
        // A construct that adds atomically may run at the same time as the next one.
        if next.alone || random.below(3) > 0 {
            let check = random.one_of(&["", "check(__LINE__);"]);
            let _ = writeln!(
                text,
                "P(omp barrier) P(omp master) {{ want += {more}; {check} }} P(omp barrier) \
                 if (mine != omp_get_thread_num()) bad = 1;"
            );
            more = String::from("0");
        }
    }
    let _ = writeln!(
        text,
        "P(omp barrier) P(omp master) want += {more};\n}} check(__LINE__);"
    );
}
