//! The parts of the study that `--only` selects.

use super::grid::LoopTask;
use crate::failure::bad_input;
use manycore_programs::partition::Partitioner;

/// Tasks, partitioners, or both.
#[derive(Default)]
pub(super) struct BlockSizeOnly {
    tasks: Vec<LoopTask>,
    partitioners: Vec<&'static str>,
}

impl BlockSizeOnly {
    pub(super) fn parse(names: &[String]) -> anyhow::Result<Self> {
        let mut only = Self::default();
        for name in names {
            let partitioner = Partitioner::NAMES.into_iter().find(|known| known == name);
            match (name.parse().ok(), partitioner) {
                (Some(task), _) => only.tasks.push(task),
                (None, Some(partitioner)) => only.partitioners.push(partitioner),
                (None, None) => {
                    return Err(bad_input(format!(
                        "--only: unknown name `{name}`; expected a task ({}) or a partitioner ({})",
                        LoopTask::ALL.map(LoopTask::name).join(", "),
                        Partitioner::NAMES.join(", ")
                    )));
                }
            }
        }
        Ok(only)
    }

    /// The tasks that both options name. If only one option names tasks, returns its tasks. If none does, returns
    /// `usual`.
    pub(super) fn tasks(
        &self,
        asked: Option<Vec<LoopTask>>,
        usual: Vec<LoopTask>,
    ) -> anyhow::Result<Vec<LoopTask>> {
        if self.tasks.is_empty() {
            return Ok(asked.unwrap_or(usual));
        }
        let mut tasks = asked.unwrap_or_else(|| LoopTask::ALL.to_vec());
        tasks.retain(|task| self.tasks.contains(task));
        some_of(tasks, "tasks")
    }

    pub(super) fn partitioners(
        &self,
        mut all: Vec<Partitioner>,
    ) -> anyhow::Result<Vec<Partitioner>> {
        let kept = &self.partitioners;
        all.retain(|partitioner| kept.is_empty() || kept.contains(&partitioner.name()));
        some_of(all, "partitioners")
    }
}

/// Returns `left`, the items that both options name. Fails if `left` is empty.
fn some_of<T>(left: Vec<T>, setting: &str) -> anyhow::Result<Vec<T>> {
    if left.is_empty() {
        return Err(bad_input(format!(
            "--only and --set {setting}: they have no name in common; expected a common name, or \
             only one of the two options"
        )));
    }
    Ok(left)
}
