/// How a team divides its ranks (the parts of a program) among its workers.
///
/// T ranks of duration w between two barriers, on C workers, take at least I = max(w, T w/C).
///
/// ```
/// use manycore_team::Policy;
///
/// assert_eq!(Policy::default(), Policy::Wrap);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// A rank runs until it arrives. A worker without a rank takes a rank that has not begun. The
    /// interval takes ceil(T/C) w.
    Fifo,
    /// Ranks take turns of q = sqrt(s I), where s is the cost of a switch. The interval takes at
    /// most I + 2 sqrt(s I).
    RoundRobin,
    /// The work of all ranks, laid end to end, is cut into parts of I, one for each worker. So each worker shares at
    /// most one rank with the next worker (McNaughton 1959). The team learns the work of each rank. In the first
    /// interval after a site (a barrier of the program) the policy is [`Fifo`](Self::Fifo), and it is
    /// [`RoundRobin`](Self::RoundRobin) while the work differs from the estimate by more than 10%.
    #[default]
    Wrap,
}
