//! Tasks: children, dependences, groups, loops, nested regions, detached tasks, cancellation.

use super::{Construct, Random, sum_below};

pub(super) fn construct(random: &mut Random) -> Construct {
    let n = 1 + random.below(40);
    let how = random.one_of(&[
        "",
        "untied",
        "mergeable",
        "priority(2)",
        "if(k & 1)",
        "final(k > 5)",
    ]);
    let nowait = random.one_of(&["", "nowait"]);
    let wait = random.one_of(&["", "P(omp taskwait)", "P(omp taskyield)"]);
    match random.below(12) {
        0 => Construct::new(
            format!(
                "for (int k = 0; k < {n}; k++) {{ P(omp task firstprivate(k) {how}) {{ ADD k; }} }} {wait}"
            ),
            format!("{} * T", sum_below(n)),
        ),
        1 => Construct::new(
            format!(
                "for (int k = 0; k < 4; k++) {{ P(omp task firstprivate(k) {how}) {{ for (int j = 0; j < {n}; j++) {{ P(omp task firstprivate(j)) {{ ADD j; }} }} {wait} ADD k; }} }}"
            ),
            format!("{} * T", 4 * sum_below(n) + 6),
        ),
        2 => {
            let (mut x, mut sum) = (1, 0);
            for k in 0..5 {
                x = x * 2 + k;
                sum += x;
            }
            Construct::new(
                format!(
                    "P(omp single {nowait}) {{ long x = 1; P(omp taskgroup) for (int k = 0; k < 5; k++) {{ P(omp task depend(inout: x) shared(x) {how}) x = x * 2 + k; P(omp task depend(in: x) shared(x)) {{ ADD x; }} }} }}"
                ),
                sum,
            )
        }
        3 => Construct::new(
            format!(
                "P(omp single {nowait}) {{ long x = 0; for (int k = 0; k < {n}; k++) {{ P(omp task depend(mutexinoutset: x) shared(x) {how}) x += k; }} P(omp task depend(in: x) shared(x)) {{ ADD x; }} P(omp taskwait) }}"
            ),
            sum_below(n),
        ),
        4 => Construct::new(
            format!(
                "P(omp single {nowait}) {{ long x[5] = {{0}}; for (int k = 0; k < 5; k++) {{ P(omp task depend(out: x[k]) shared(x) {how}) x[k] = k + {n}; }} P(omp task depend(iterator(i = 0:5), in: x[i]) shared(x)) for (int k = 0; k < 5; k++) {{ ADD x[k]; }} P(omp taskwait) }}"
            ),
            5 * n + 10,
        ),
        5 => Construct::new(
            format!(
                "P(omp single {nowait}) {{ P(omp taskloop grainsize({})) for (long i = 0; i < {n}; i++) {{ ADD i; }} }}",
                1 + random.below(9)
            ),
            sum_below(n),
        ),
        6 => Construct::new(
            format!(
                "{{ P(omp taskloop num_tasks({}) nogroup) for (unsigned long long i = {n}; i > 0; i--) {{ ADD i - 1; }} {wait} }}",
                1 + random.below(9)
            ),
            format!("{} * T", sum_below(n)),
        ),
        7 => Construct::new(format!("P(omp single {nowait}) {{ ADD fib(9); }}"), 34),
        8 => Construct::new(
            format!(
                "for (int k = 0; k < 2; k++) {{ P(omp task firstprivate(k) {how}) {{ long inner = 0; P(omp parallel num_threads(2) reduction(+: inner)) {{ P(omp for) for (int i = 0; i < {n}; i++) inner += i; P(omp single) {{ P(omp task) {{ ADD 1; }} }} P(omp barrier) }} P(omp taskwait) ADD inner; }} }}"
            ),
            format!("{} * T", 2 * sum_below(n) + 2),
        ),
        9 => Construct::new(
            format!(
                "P(omp single {nowait}) {{ long x = 0; omp_event_handle_t event; P(omp task detach(event) depend(out: x) shared(x)) x = {n}; P(omp task depend(in: x) shared(x)) {{ ADD x; }} P(omp task firstprivate(event)) omp_fulfill_event(event); P(omp taskwait) }}"
            ),
            n,
        ),
        // Without OMP_CANCELLATION, all tasks run.
        10 => Construct::new(
            format!(
                "P(omp single {nowait}) {{ long ran = 0; P(omp taskgroup) for (int k = 0; k < {n}; k++) {{ P(omp task shared(ran) firstprivate(k)) {{ P(omp atomic) ran++; if (k == {n} / 2) {{ P(omp cancel taskgroup) }} P(omp cancellation point taskgroup) }} }} if (ran > {n} || ran < 1 || (!omp_get_cancellation() && ran < {n})) bad = 1; }}"
            ),
            0,
        ),
        _ => Construct::new(
            format!(
                "P(omp taskgroup) {{ for (int k = 0; k < 3; k++) {{ P(omp task firstprivate(k) {how}) {{ P(omp taskgroup) {{ P(omp task) {{ P(omp task) {{ ADD k; }} }} }} P(omp task) {{ ADD {n}; }} }} }} }}"
            ),
            format!("{} * T", 3 + 3 * n),
        ),
    }
}
