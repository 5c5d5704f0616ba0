//! Loops, sections, single and critical regions.

use super::{Construct, Random, schedule, sum_below};

pub(super) fn construct(random: &mut Random) -> Construct {
    let n = 1 + random.below(40);
    let schedule = schedule(random);
    let nowait = random.one_of(&["", "nowait"]);
    match random.below(15) {
        0 | 1 => {
            let kind = random.one_of(&["long", "unsigned long long"]);
            Construct::new(
                format!(
                    "P(omp for schedule({schedule}) {nowait}) for ({kind} i = 0; i < {n}; i++) {{ ADD i; }}"
                ),
                sum_below(n),
            )
        }
        // Downwards, with steps, and up to the largest value of the type.
        2 => Construct::new(
            format!(
                "P(omp for schedule({schedule}) {nowait}) for (int i = 3 * {n}; i > 0; i -= 3) {{ ADD i / 3 - 1; }}"
            ),
            sum_below(n),
        ),
        3 => Construct::new(
            format!(
                "P(omp for schedule({schedule}) {nowait}) for (unsigned long long i = -1ull - {n}; i < -1ull; i++) {{ ADD i + 1 + {n}; }}"
            ),
            sum_below(n),
        ),
        4 => Construct::new(
            format!(
                "P(omp for collapse(2) schedule({schedule}) {nowait}) for (int i = 0; i < 3; i++) for (int k = 0; k < {n}; k++) {{ ADD k; }}"
            ),
            3 * sum_below(n),
        ),
        5 => Construct::alone(
            format!(
                "P(omp barrier) P(omp for ordered schedule({schedule})) for (long i = 0; i < {n}; i++) {{ P(omp ordered) {{ if (turn != i) bad = 1; turn = i + 1; if (turn == {n}) turn = 0; sum += i; }} }}"
            ),
            sum_below(n),
        ),
        6 => Construct::alone(
            format!(
                "P(omp barrier) P(omp for ordered(1) schedule(dynamic)) for (long i = 0; i < {n}; i++) {{ P(omp ordered depend(sink: i - 1)) chain[i] = i ? chain[i - 1] + 1 : 0; P(omp ordered depend(source)) ADD chain[i]; }}"
            ),
            sum_below(n),
        ),
        7 => Construct::alone(
            format!(
                "P(omp barrier) P(omp for ordered(2) schedule({schedule})) for (int i = 0; i < 4; i++) for (int k = 0; k < 5; k++) {{ P(omp ordered depend(sink: i - 1, k) depend(sink: i, k - 1)) chain[8 * i + k] = (i ? chain[8 * i + k - 8] : 0) + (k ? chain[8 * i + k - 1] : 0) + !(i | k); P(omp ordered depend(source)) ADD chain[8 * i + k]; }}"
            ),
            // Binomial coefficients: the part of each diagonal that lies in 4 by 5.
            "125",
        ),
        8 => Construct::alone(
            format!(
                "P(omp for lastprivate(last) schedule({schedule})) for (long i = 0; i < {n}; i++) {{ last = i; ADD i; }} if (last != {n} - 1) bad = 1;"
            ),
            sum_below(n),
        ),
        9 => Construct::new(format!("P(omp single {nowait}) {{ ADD {n}; }}"), n),
        10 => Construct::new(
            format!("{{ long c; P(omp single copyprivate(c)) c = {n}; ADD c; }}"),
            format!("{n} * T"),
        ),
        11 => Construct::new(
            format!(
                "P(omp sections {nowait}) {{ P(omp section) {{ ADD 1; }} P(omp section) {{ ADD 20; }} P(omp section) {{ ADD {n}; }} }}"
            ),
            21 + n,
        ),
        12 => Construct::new(
            format!(
                "P(omp critical({})) {{ ADD {n}; }}",
                random.one_of(&["a", "b"])
            ),
            format!("{n} * T"),
        ),
        13 => Construct::new(
            format!(
                "omp_set_lock(&lock); locked += {n}; omp_unset_lock(&lock); omp_set_nest_lock(&nest); if (omp_test_nest_lock(&nest) != 2) bad = 1; omp_unset_nest_lock(&nest); omp_unset_nest_lock(&nest); ADD {n};"
            ),
            format!("{n} * T"),
        ),
        _ => Construct::new(
            format!(
                "{{ long inner = 0; P(omp parallel num_threads(3) reduction(+: inner)) {{ P(omp for schedule({schedule}) {nowait}) for (long i = 0; i < {n}; i++) inner += i; }} ADD inner; }}"
            ),
            format!("{} * T", sum_below(n)),
        ),
    }
}
