//! How ranks are divided among workers, as the caller may choose it.

/// How a team divides its ranks among its workers.
///
/// T ranks of w between two barriers on C workers take at least I = max(w, T w/C).
///
/// ```
/// use manycore_team::Policy;
///
/// assert_eq!(Policy::default(), Policy::Wrap);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// A rank runs until it arrives. A worker without a rank takes a rank that has not begun:
    /// ceil(T/C) w.
    Fifo,
    /// Ranks take turns of q = sqrt(s I), where s is what a switch costs: at most
    /// I + 2 sqrt(s I).
    RoundRobin,
    /// Each worker has a part of I of the work of all ranks, one after the other, so it cuts one
    /// rank at most (McNaughton 1959). The work of a rank is learned: in the first interval after a
    /// site this is [`Fifo`](Self::Fifo), and [`RoundRobin`](Self::RoundRobin) while the work
    /// differs from the estimate by more than 10%.
    #[default]
    Wrap,
}
