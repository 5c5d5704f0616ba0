//! Reductions of loops, sections, regions and tasks, over one variable and over several.

use super::{Construct, Random, schedule, sum_below};

pub(super) fn construct(random: &mut Random) -> Construct {
    let n = 1 + random.below(40);
    let schedule = schedule(random);
    // One member adds the final value of a shared variable.
    let give = "P(omp single) { sum += red; red = 0; }";
    match random.below(12) {
        0 => Construct::alone(
            format!(
                "P(omp for schedule({schedule}) reduction(+: red)) for (long i = 0; i < {n}; i++) red += i; {give}"
            ),
            sum_below(n),
        ),
        1 => Construct::alone(
            format!(
                "P(omp for schedule({schedule}) reduction(+: red, many) reduction(max: most)) for (long i = 0; i < {n}; i++) {{ red += i; many[i % 9] += i; if (most < i) most = i; }} P(omp single) {{ for (int k = 0; k < 9; k++) {{ red -= many[k]; many[k] = 0; }} sum += red + most; red = most = 0; }}"
            ),
            n - 1,
        ),
        2 => Construct::alone(
            format!(
                "P(omp for schedule({schedule}) reduction(merge: wide)) for (long i = 0; i < {n}; i++) wide.words[i % 9] += i; P(omp single) {{ for (int k = 0; k < 9; k++) {{ sum += wide.words[k]; wide.words[k] = 0; }} }}"
            ),
            sum_below(n),
        ),
        3 => Construct::alone(
            format!(
                "P(omp for schedule({}) reduction(task, +: red)) for (long i = 0; i < {n}; i++) {{ red += 1; P(omp task in_reduction(+: red) firstprivate(i)) red += i; }} {give}",
                random.one_of(&[
                    "nonmonotonic: runtime",
                    "nonmonotonic: dynamic",
                    "static",
                    "guided, 2"
                ])
            ),
            sum_below(n) + n,
        ),
        4 => Construct::alone(
            format!(
                "P(omp for schedule(dynamic) reduction(task, merge: wide) reduction(task, +: red)) for (long i = 0; i < {n}; i++) {{ P(omp task in_reduction(merge: wide) in_reduction(+: red) firstprivate(i)) {{ wide.words[i % 9] += i; red += 1; }} }} P(omp single) {{ for (int k = 0; k < 9; k++) {{ sum += wide.words[k]; wide.words[k] = 0; }} sum += red; red = 0; }}"
            ),
            sum_below(n) + n,
        ),
        5 => Construct::alone(
            format!(
                "P(omp sections reduction(task, +: red)) {{ P(omp section) {{ P(omp task in_reduction(+: red)) red += 3; }} P(omp section) red += 4; P(omp section) for (int k = 0; k < {n}; k++) {{ P(omp task in_reduction(+: red)) red += k; }} }} {give}"
            ),
            sum_below(n) + 7,
        ),
        6 => Construct::new(
            format!(
                "{{ long r = 0, size = 0; P(omp parallel num_threads(3) reduction(task, +: r) shared(size)) {{ P(omp master) size = omp_get_num_threads(); r += 1; for (int k = 0; k < {n}; k++) {{ P(omp task in_reduction(+: r) firstprivate(k)) r += k; }} }} if (r != size * {}) bad = 1; ADD {n}; }}",
                sum_below(n) + 1
            ),
            format!("{n} * T"),
        ),
        7 => Construct::new(
            format!(
                "P(omp single) {{ long r = 0, m = 0; P(omp taskgroup task_reduction(+: r) task_reduction(max: m)) {{ for (int k = 0; k < {n}; k++) {{ P(omp task in_reduction(+: r) in_reduction(max: m) firstprivate(k)) {{ r += k; if (m < k) m = k; P(omp task in_reduction(+: r)) r += 1; }} }} }} ADD r + m; }}"
            ),
            sum_below(n) + 2 * n - 1,
        ),
        8 => Construct::new(
            format!(
                "P(omp single) {{ long r = 0; P(omp taskloop reduction(+: r) grainsize({})) for (int k = 0; k < {n}; k++) r += k; P(omp taskloop reduction(+: r)) for (int k = {n}; k < {}; k++) r += 1000; ADD r; }}",
                1 + random.below(7),
                random.below(n + 1)
            ),
            sum_below(n),
        ),
        9 => Construct::new(
            format!(
                "{{ long r = 0; P(omp taskgroup task_reduction(+: r)) {{ P(omp taskloop in_reduction(+: r)) for (int k = 0; k < {n}; k++) r += k; P(omp task in_reduction(+: r)) {{ P(omp taskgroup task_reduction(+: r)) {{ P(omp task in_reduction(+: r)) r += 5; }} }} }} ADD r; }}"
            ),
            format!("{} * T", sum_below(n) + 5),
        ),
        10 => Construct::new(
            format!(
                "{{ struct wide w = {{{{0}}}}; P(omp taskgroup task_reduction(merge: w)) {{ for (int k = 0; k < {n}; k++) {{ P(omp task in_reduction(merge: w) firstprivate(k)) w.words[k % 9] += k; }} }} long r = 0; for (int k = 0; k < 9; k++) r += w.words[k]; ADD r; }}"
            ),
            format!("{} * T", sum_below(n)),
        ),
        // Clang 14 makes one loop over a single variable of this, whatever the library.
        _ => Construct::alone(
            format!(
                "\n#ifndef __clang__\nP(omp barrier) P(omp for reduction(inscan, +: red)) for (long i = 0; i < {n}; i++) {{ red += i; P(omp scan inclusive(red)) ADD red - i * (i + 1) / 2 + i; }} P(omp single) red = 0;\n#else\nP(omp single) ADD {};\n#endif",
                sum_below(n)
            ),
            sum_below(n),
        ),
    }
}
