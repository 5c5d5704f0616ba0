//! The parts of barriers and the division of ranks (parts of a program), for other crates of manycore's repository.
//! This interface is not stable.

pub use crate::barrier::chosen::{ChosenBarrier, ChosenMember};
pub use crate::barrier::exchange::Exchange;
pub use crate::barrier::grouped::{GroupedBarrier, GroupedMember};
pub use crate::barrier::node::Node;
pub use crate::barrier::sense::{SenseBarrier, SenseMember};
pub use crate::barrier::waiting::Waiting;
pub use crate::channel::sender_count::{HANDLE, PORT, SenderCount};
pub use crate::team::plan::{Cut, even};
pub use crate::team::planner::{Division, Planner, Plans, Schedule};
