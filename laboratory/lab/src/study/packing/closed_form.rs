//! The time of an interval between two barriers for T equal ranks (threads) on C cores, in units of one rank's
//! computation.

/// The least time of any schedule (McNaughton 1959) for ranks whose mean work is 1. It is the longest rank's time, or
/// the total work divided by the number of cores if this is longer.
pub(super) fn ideal(threads: usize, cores: usize, longest: f64) -> f64 {
    longest.max(threads as f64 / cores as f64)
}

/// The time if each thread stays on its core: the time of the core with the most threads. This also holds for unbound
/// threads if an interval is shorter than the system's time slice. A thread then runs to the barrier, and the next
/// thread waits equally long on any core.
pub(super) fn pinned(threads: usize, cores: usize) -> f64 {
    threads.div_ceil(cores) as f64
}

/// The time if the threads of a core get equal shares, in time slices far shorter than the interval. A core that runs
/// out of threads takes a waiting thread from another core.
///
/// With T = kC + r threads, r crowded cores have k + 1 threads each, and the other cores have k. The other cores end
/// at time k. Each thread of the crowded cores has then done k/(k + 1) of its work. These r(k + 1) threads, with
/// 1/(k + 1) of their work left, are now spread evenly over all C cores, and so on.
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

    /// The same time by simulation: threads of a core run at the same speed, and an idle core takes a waiting thread at
    /// once.
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
    fn fair_sharing_agrees_with_a_simulation() {
        // If a core has more than two threads the formula is not exact, since each idle core takes only one thread.
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
