//! What the programs of this workspace share: how they begin and end, the peers behind one face,
//! their processes and what is said to them, loads, statistics, tables and files.

pub mod bench;
pub mod child;
pub mod fleet;
pub mod levels;
pub mod load;
pub mod measure;
pub mod output;
pub mod peer;
pub mod program;
pub mod protocol;
pub mod record;
pub mod recursion;
pub mod stats;
pub mod table;
pub mod tasks;
pub mod traffic;
