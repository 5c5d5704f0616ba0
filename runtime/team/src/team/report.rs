/// Statistics of one [`Team::run`](super::Team::run).
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
    /// The number of intervals between barriers, with the last, which ends when all ranks are done.
    pub episodes: u64,
    /// The number of turns that ranks (the parts of the program) had.
    pub switches: u64,
    /// How often a worker put back a rank that had not arrived.
    pub preemptions: u64,
    /// The number of turns on another worker than the rank's previous turn.
    pub migrations: u64,
}
