//! The C and C++ peers: shared objects, as `build.rs` left them.

use anyhow::{Context, Result, anyhow};
use libloading::Library;

/// A runtime's glue, loaded only in that runtime's own process: libgomp and libomp export the
/// same names.
pub struct Glue {
    pub name: &'static str,
    pub path: Option<&'static str>,
    /// Why there is no path.
    pub why: Option<&'static str>,
}

/// The glue that `build.rs` knows by a name.
macro_rules! glue {
    ($name:literal, $built:literal) => {
        $crate::glue::Glue {
            name: $name,
            path: option_env!(concat!("PEERS_GLUE_", $built)),
            why: option_env!(concat!("PEERS_MISSING_", $built)),
        }
    };
}

pub(crate) use glue;

impl Glue {
    /// Why it cannot be had here.
    pub fn missing(&self) -> Option<String> {
        let why = self.why.unwrap_or("no reason known");
        let said = || {
            let name = self.name;
            format!("{name} was not there when this was built ({why}); see setup.sh")
        };
        self.path.is_none().then(said)
    }

    /// Loads it, for as long as the process lives: its threads outlive what they are used for.
    ///
    /// # Errors
    ///
    /// When it was not there when this was built, or is not there now.
    pub fn load(&self) -> Result<&'static Library> {
        let path = self
            .path
            .ok_or_else(|| anyhow!(self.missing().unwrap_or_default()))?;
        // SAFETY: our own shared object; its and its libraries' initialisers may run on any
        // thread.
        let library =
            unsafe { Library::new(path) }.with_context(|| format!("cannot load {}", self.name))?;
        Ok(Box::leak(Box::new(library)))
    }
}
