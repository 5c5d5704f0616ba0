//! Random OpenMP programs whose result is known.
//!
//! A program keeps a sum beside the sum that it must be: each construct adds to the first from
//! all members, by iterations, tasks or sections, and to the second from one thread, by
//! arithmetic. Constructs are nested as the language allows. It ends with 0 if both agree at each
//! step.

use std::fmt::Write;

/// A small generator of numbers: the same for a seed everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % bound
    }
}

const SCHEDULES: [&str; 8] = [
    "static",
    "static, 3",
    "dynamic",
    "dynamic, 4",
    "guided",
    "monotonic: dynamic, 2",
    "runtime",
    "auto",
];

/// A construct that all members of a region come to. It leaves `sum` larger by what it returns
/// as an expression over `T`, the size of the team.
fn construct(random: &mut Random, to: &mut String) -> String {
    let n = 1 + random.below(40);
    let schedule = SCHEDULES[random.below(8) as usize];
    let sum_of = |n: u64| n * (n - 1) / 2;
    let add = "_Pragma(\"omp atomic\") sum +=";
    let write = |to: &mut String, text: std::fmt::Arguments<'_>| {
        to.write_fmt(text).expect("a string has room");
        to.push('\n');
    };
    match random.below(13) {
        0 => {
            write(
                to,
                format_args!(
                    "_Pragma(\"omp for schedule({schedule})\") for (long i = 0; i < {n}; i++) {{ {add} i; }}"
                ),
            );
            sum_of(n).to_string()
        }
        1 => {
            write(
                to,
                format_args!(
                    "_Pragma(\"omp for schedule({schedule}) nowait\") for (unsigned long long i = 0; i < {n}; i++) {{ {add} i; }}"
                ),
            );
            sum_of(n).to_string()
        }
        2 => {
            write(
                to,
                format_args!(
                    "_Pragma(\"omp for ordered schedule({schedule})\") for (long i = 0; i < {n}; i++) {{ _Pragma(\"omp ordered\") {{ if (turn != i) bad = 1; turn = i + 1; if (turn == {n}) turn = 0; sum += i; }} }}"
                ),
            );
            // Ordered regions add without an atomic: nothing else may add meanwhile.
            format!("{}", sum_of(n))
        }
        3 => {
            write(to, format_args!("_Pragma(\"omp single\") {{ {add} {n}; }}"));
            n.to_string()
        }
        4 => {
            write(
                to,
                format_args!(
                    "{{ long c; _Pragma(\"omp single copyprivate(c)\") c = {n}; {add} c; }}"
                ),
            );
            format!("{n} * T")
        }
        5 => {
            write(
                to,
                format_args!(
                    "_Pragma(\"omp sections\") {{ _Pragma(\"omp section\") {{ {add} 1; }} _Pragma(\"omp section\") {{ {add} 20; }} _Pragma(\"omp section\") {{ {add} {n}; }} }}"
                ),
            );
            (21 + n).to_string()
        }
        6 => {
            write(
                to,
                format_args!(
                    "_Pragma(\"omp critical({})\") {{ {add} {n}; }}",
                    ["a", "b"][random.below(2) as usize]
                ),
            );
            format!("{n} * T")
        }
        7 => {
            write(
                to,
                format_args!(
                    "for (int k = 0; k < {n}; k++) {{ _Pragma(\"omp task firstprivate(k)\") {{ {add} k; }} }}"
                ),
            );
            if random.below(2) == 0 {
                write(to, format_args!("_Pragma(\"omp taskwait\")"));
            }
            format!("{} * T", sum_of(n))
        }
        8 => {
            write(
                to,
                format_args!(
                    "_Pragma(\"omp single nowait\") {{ long x = 1; _Pragma(\"omp taskgroup\") for (int k = 0; k < 5; k++) {{ _Pragma(\"omp task depend(inout: x) shared(x)\") x = x * 2 + k; _Pragma(\"omp task depend(in: x) shared(x)\") {{ {add} x; }} }} }}"
                ),
            );
            let (mut x, mut sum) = (1, 0);
            for k in 0..5 {
                x = x * 2 + k;
                sum += x;
            }
            sum.to_string()
        }
        9 => {
            write(
                to,
                format_args!(
                    "_Pragma(\"omp single\") {{ _Pragma(\"omp taskloop grainsize({})\") for (long i = 0; i < {n}; i++) {{ {add} i; }} }}",
                    1 + random.below(9)
                ),
            );
            sum_of(n).to_string()
        }
        10 => {
            write(
                to,
                format_args!(
                    "omp_set_lock(&lock); locked += {n}; omp_unset_lock(&lock); {add} {n};"
                ),
            );
            format!("{n} * T")
        }
        11 => {
            write(
                to,
                format_args!(
                    "{{ long inner = 0; _Pragma(\"omp parallel num_threads(3) reduction(+: inner)\") {{ _Pragma(\"omp for schedule({schedule})\") for (long i = 0; i < {n}; i++) inner += i; }} {add} inner; }}"
                ),
            );
            format!("{} * T", sum_of(n))
        }
        _ => {
            write(
                to,
                format_args!(
                    "_Pragma(\"omp for ordered(1) schedule(dynamic)\") for (long i = 0; i < {n}; i++) {{ _Pragma(\"omp ordered depend(sink: i - 1)\") chain[i] = i ? chain[i - 1] + 1 : 0; _Pragma(\"omp ordered depend(source)\") {add} chain[i]; }}"
                ),
            );
            sum_of(n).to_string()
        }
    }
}

/// The program of a seed.
pub(crate) fn program(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
    let mut text = String::from(
        "#include <omp.h>\n#include <stdio.h>\n\
         static long sum, want, turn, locked, chain[64]; static int bad; static omp_lock_t lock;\n\
         static __thread int mine = -1;\n\
         static void check(int line) { if (sum != want || bad) { \
         printf(\"line %d: %ld, expected %ld (%d)\\n\", line, sum, want, bad); bad = 1; } }\n\
         int main(void) { omp_init_lock(&lock);\n",
    );
    if random.below(2) == 0 {
        text.push_str("omp_set_max_active_levels(2);\n");
    }
    text.push_str("for (int round = 0; round < 6; round++) {\n");
    for _ in 0..3 {
        text.push_str("_Pragma(\"omp parallel\") { int T = omp_get_num_threads(); mine = omp_get_thread_num();\n");
        for _ in 0..8 {
            let more = construct(&mut random, &mut text);
            let check = if random.below(2) == 0 {
                "check(__LINE__);"
            } else {
                ""
            };
            // The barriers keep an ordered loop's plain additions from others'.
            let _ = writeln!(
                text,
                "_Pragma(\"omp barrier\") _Pragma(\"omp master\") {{ want += {more}; {check} }} \
                 _Pragma(\"omp barrier\") if (mine != omp_get_thread_num()) bad = 1;"
            );
        }
        text.push_str("} check(__LINE__);\n");
    }
    text.push_str("} return bad; }\n");
    text
}
