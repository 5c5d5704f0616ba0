//! What `--only` leaves of the study.

use super::grid::Task;
use crate::failure::bad_input;
use manycore::Partitioner;

/// Tasks, partitioners, or both.
#[derive(Default)]
pub(super) struct BlockSizeOnly {
    tasks: Vec<Task>,
    partitioners: Vec<&'static str>,
}

impl BlockSizeOnly {
    pub(super) fn parse(names: &[String]) -> anyhow::Result<Self> {
        let mut only = Self::default();
        for name in names {
            let partitioner = Partitioner::NAMES.into_iter().find(|known| known == name);
            match (Task::from_name(name), partitioner) {
                (Some(task), _) => only.tasks.push(task),
                (None, Some(partitioner)) => only.partitioners.push(partitioner),
                (None, None) => {
                    return Err(bad_input(format!(
                        "--only: unknown name `{name}`; expected a task ({}) or a partitioner ({})",
                        Task::ALL.map(Task::name).join(", "),
                        Partitioner::NAMES.join(", ")
                    )));
                }
            }
        }
        Ok(only)
    }

    pub(super) fn tasks(&self, mut tasks: Vec<Task>) -> Vec<Task> {
        tasks.retain(|task| self.tasks.is_empty() || self.tasks.contains(task));
        tasks
    }

    pub(super) fn partitioners(&self, mut all: Vec<Partitioner>) -> Vec<Partitioner> {
        let kept = &self.partitioners;
        all.retain(|partitioner| kept.is_empty() || kept.contains(&partitioner.name()));
        all
    }
}
