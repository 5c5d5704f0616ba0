//! The ways to divide ranks among workers.

/// How a team divides its ranks among its workers.
///
/// The times are for T ranks of duration w between two barriers, on C workers. They take at least I
/// = max(w, T w/C).
///
/// ```
/// use manycore_team::Policy;
///
/// assert_eq!(Policy::default(), Policy::Wrap);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// A rank runs until it arrives. A worker without a rank takes a rank that has not begun. The
    /// time is ceil(T/C) w.
    Fifo,
    /// Ranks take turns of q = sqrt(s I), where s is the cost of a switch. The time is at most I +
    /// 2 sqrt(s I).
    RoundRobin,
    /// The work of all ranks, laid end to end, is divided into parts of I, one for each worker. So
    /// a worker cuts one rank at most (McNaughton 1959). The team learns the work of the ranks. In
    /// the first interval after a site this is [`Fifo`](Self::Fifo). While the work differs from
    /// the estimate by more than 10%, it is [`RoundRobin`](Self::RoundRobin).
    #[default]
    Wrap,
}
