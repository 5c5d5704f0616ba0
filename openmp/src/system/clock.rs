//! Lengths of time on the processor's counter ([`Platform::now`](manycore_platform::Platform::now)).
//!
//! The counter may step. It continues elsewhere when the machine is suspended, when a virtual machine or a process
//! moves to another host, and a little when a thread moves to another CPU. After a step back, a wait for a time of the
//! counter would be very long. So these functions know the length of the wait too.

/// Whether a wait that began at `since` is over after `ticks`. A counter a little before `since` is that of another
/// CPU, or has stepped back: the wait goes on. If the counter is farther away than `ticks`, on either side, the wait is
/// over. So after a step back, a wait takes less than three times its length.
#[inline]
pub(crate) fn has_passed(ticks: u64, since: u64, now: u64) -> bool {
    now.abs_diff(since) >= ticks
}

/// The ticks until the time `end` of a wait of `length` ticks that was to be over now. `None` if the wait is over, or
/// if the counter has stepped back or stands still.
pub(crate) fn rest(length: u64, end: u64, now: u64) -> Option<u64> {
    end.checked_sub(now)
        .filter(|&rest| rest > 0 && rest < length)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: u64 = 1_000;
    const SINCE: u64 = 1 << 40;

    /// How long a wait of [`LENGTH`] takes if the counter steps after `before` ticks of the wait.
    fn wait(before: u64, step: i64) -> u64 {
        let now = |time: u64| {
            let step = if time >= before { step } else { 0 };
            (SINCE + time).saturating_add_signed(step)
        };
        (0..)
            .find(|&time| has_passed(LENGTH, SINCE, now(time)))
            .expect("the wait ends")
    }

    #[test]
    fn a_wait_takes_its_length() {
        assert_eq!(wait(0, 0), LENGTH);
    }

    #[test]
    fn after_a_step_a_wait_ends() {
        for before in [0, 1, LENGTH / 2, LENGTH - 1] {
            for size in (1..4 * LENGTH as i64).chain([1 << 39, i64::MAX]) {
                for step in [-size, size] {
                    let took = wait(before, step);
                    assert!(took < 3 * LENGTH, "{step} after {before}: {took}");
                }
            }
        }
    }

    #[test]
    fn the_counter_of_another_cpu_ends_no_wait() {
        assert!(!has_passed(LENGTH, SINCE, SINCE - 1));
        assert!(!has_passed(LENGTH, SINCE, SINCE + 1));
    }

    #[test]
    fn the_rest_of_a_timer_that_came_early() {
        assert_eq!(rest(LENGTH, SINCE, SINCE - 5), Some(5));
        assert_eq!(rest(LENGTH, SINCE, SINCE), None);
        assert_eq!(rest(LENGTH, SINCE, SINCE + 5), None);
        // The counter has stepped back.
        assert_eq!(rest(LENGTH, SINCE, SINCE - LENGTH), None);
        assert_eq!(rest(LENGTH, SINCE, 0), None);
    }
}
