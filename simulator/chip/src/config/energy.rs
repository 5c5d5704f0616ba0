//! The energies of a machine's events.

use serde::{Deserialize, Serialize};

/// The energies of a machine's events, in picojoules: the table `[energy]`. An event without a
/// value takes no energy.
///
/// The presets' tables describe a simple core in a process of 45 nm. `sources` says where each value comes from. The
/// tables serve to compare runs of one machine, not to predict its power consumption.
///
/// ```
/// use manycore_chip::config::Config;
///
/// let mut machine = Config::preset("atac-64")?;
/// assert_eq!(machine.energy.as_ref().map(|energy| energy.l1), Some(20.0));
/// machine.set("energy.memory=8000")?;
/// # Ok::<(), manycore_chip::config::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Energies {
    /// A word of 8 bytes from or to the L1.
    pub l1: f64,
    /// A line from or to the L2.
    pub l2: Option<f64>,
    /// A look-up in the last-level cache, with its line.
    pub llc: Option<f64>,
    /// A line from or to main memory.
    pub memory: f64,
    /// A flit over one link of the mesh.
    pub link: Option<f64>,
    /// Sending 8 bytes over the broadcast network.
    pub optical_send: Option<f64>,
    /// Receiving 8 bytes from the broadcast network, at each port.
    pub optical_receive: Option<f64>,
    /// An instruction, without its access to data.
    pub instruction: f64,
    /// A cycle of a core that runs a thread, without the instructions.
    pub active: f64,
    /// A cycle of an idle core.
    pub idle: f64,
}
