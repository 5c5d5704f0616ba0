//! Lengths of time on the processor's counter ([`Platform::now`](manycore_platform::Platform::now)).
//!
//! The counter may step. It continues elsewhere when the machine is suspended, when a virtual machine or a process
//! moves to another host, and a little when a thread moves to another CPU. So no wait may depend on a time of the
//! counter alone.

/// Whether a wait that began at `since` is over after `ticks`. A wait is over if the counter is before the wait's
/// beginning. So after a step back, a wait takes less than twice its length.
#[inline]
pub(crate) fn has_passed(ticks: u64, since: u64, now: u64) -> bool {
    now.checked_sub(since).is_none_or(|passed| passed >= ticks)
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
    fn after_a_step_a_wait_ends_within_its_length_again() {
        for before in [0, 1, LENGTH / 2, LENGTH - 1] {
            for size in (1..4 * LENGTH as i64).chain([1 << 39, i64::MAX]) {
                for step in [-size, size] {
                    let took = wait(before, step);
                    assert!(took < 2 * LENGTH, "{step} after {before}: {took}");
                }
            }
        }
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
