//! The statistics of a run.

/// The statistics of a team's run.
///
/// ```
/// use manycore_cores::elastic::Allotment;
/// use manycore_team::{Step, Team, Turn};
///
/// let mut team: Team = Team::new(1, Allotment::new(1))?;
/// let report = team.run(3, |_| |_: &Turn<'_>| Step::Done);
/// assert_eq!((report.episodes, report.switches, report.preemptions), (1, 3, 0));
/// # Ok::<(), manycore_team::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Intervals between barriers, and the last interval, which ends with the ranks.
    pub episodes: u64,
    /// Turns that ranks had.
    pub switches: u64,
    /// Turns that ended before the rank was at a barrier.
    pub preemptions: u64,
    /// Turns that a rank had on another worker than the one before.
    pub migrations: u64,
}
