//! The time of an interval between two barriers for T equal ranks on C cores, in units of one
//! rank's computation.

/// No schedule is faster: each rank by itself, and all of them on all cores (McNaughton 1959). For
/// ranks with a mean of 1 and a longest of `longest`.
pub(super) fn ideal(threads: usize, cores: usize, longest: f64) -> f64 {
    longest.max(threads as f64 / cores as f64)
}

/// Each thread stays on its core, and the fullest core has the most. This also holds for unbound
/// threads when an interval is shorter than the system's slice: a thread then runs to the barrier,
/// and the thread behind it waits as long on any core.
pub(super) fn pinned(threads: usize, cores: usize) -> f64 {
    threads.div_ceil(cores) as f64
}

/// The system shares each core fairly, in slices far shorter than the interval. A core that runs
/// out of threads takes a thread that waits elsewhere.
///
/// With T = kC + r threads, r cores have k + 1. When the others are through, after k, each
/// thread of the r crowded cores has had k/(k + 1) of its work; r(k + 1) threads with
/// 1/(k + 1) left then start over on C cores, spread evenly.
pub(super) fn fair(threads: usize, cores: usize) -> f64 {
    let (each, crowded) = (threads / cores, threads % cores);
    match (crowded, each) {
        (0, _) => each as f64,
        (_, 0) => 1.0,
        _ => {
            let left = crowded * (each + 1);
            each as f64 + fair(left, cores) / (each + 1) as f64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a simulation of fluid sharing has it: all threads that share a core run at the
    /// same speed, and an idle core takes a waiting thread at once.
    fn fluid(threads: usize, cores: usize) -> f64 {
        let mut queues = vec![Vec::new(); cores];
        for thread in 0..threads {
            queues[thread % cores].push(1.0_f64);
        }
        let mut now = 0.0;
        loop {
            while let Some(idle) = queues.iter().position(Vec::is_empty)
                && let Some(full) = (0..cores).max_by_key(|&core| queues[core].len())
                && queues[full].len() > 1
            {
                let taken = queues[full].pop().unwrap();
                queues[idle].push(taken);
            }
            let ends = queues.iter().filter(|queue| !queue.is_empty());
            let ends = ends.map(|queue| {
                let least = queue.iter().copied().fold(f64::INFINITY, f64::min);
                least * queue.len() as f64
            });
            let step = ends.fold(f64::INFINITY, f64::min);
            if step.is_infinite() {
                return now;
            }
            now += step;
            for queue in &mut queues {
                let share = step / queue.len() as f64;
                queue.iter_mut().for_each(|left| *left -= share);
                queue.retain(|left| *left > 1e-9);
            }
        }
    }

    #[test]
    fn fair_sharing_is_what_fluid_threads_do() {
        // With more than two threads a core, idle cores that take one each do not spread
        // what is left quite evenly, as the formula has it.
        for cores in 1..=16 {
            for threads in 1..2 * cores {
                let (formula, simulated) = (fair(threads, cores), fluid(threads, cores));
                assert!(
                    (formula - simulated).abs() < 1e-6,
                    "{threads} on {cores}: {formula} and {simulated}"
                );
            }
        }
    }

    #[test]
    fn nothing_is_faster_than_ideal_nor_slower_than_pinned() {
        for cores in 1..=16 {
            for threads in cores..=20 {
                let fair = fair(threads, cores);
                assert!(ideal(threads, cores, 1.0) <= fair + 1e-9);
                assert!(fair <= pinned(threads, cores));
            }
        }
        assert_eq!(fair(16, 15) / ideal(16, 15, 1.0), 1.40625);
    }
}
