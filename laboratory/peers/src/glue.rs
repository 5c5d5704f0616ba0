//! The C and C++ peers: shared objects that `build.rs` compiled.

use anyhow::{Context, Result, anyhow};
use libloading::Library;

/// The C glue of a runtime. Only the runtime's own process loads it: libgomp and libomp export the
/// same names.
pub struct Glue {
    pub name: &'static str,
    pub path: Option<&'static str>,
    /// The reason why there is no path.
    pub why: Option<&'static str>,
}

/// The glue with the name `$built` in `build.rs`.
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
    /// The reason why the glue is missing, if it is.
    pub fn missing(&self) -> Option<String> {
        let why = self.why.unwrap_or("the reason is not known");
        let said = || {
            let name = self.name;
            format!("{name} was missing when this was built ({why}); see setup.sh")
        };
        self.path.is_none().then(said)
    }

    /// Loads the glue for the life of the process: its threads outlive their use.
    ///
    /// # Errors
    ///
    /// If the library was missing when this was built, or is missing now.
    pub fn load(&self) -> Result<&'static Library> {
        let path = self
            .path
            .ok_or_else(|| anyhow!(self.missing().unwrap_or_default()))?;
        // SAFETY: `build.rs` made the shared object. All initialisers, also of its libraries, can
        // run on any thread.
        let library =
            unsafe { Library::new(path) }.with_context(|| format!("cannot load {}", self.name))?;
        Ok(Box::leak(Box::new(library)))
    }
}
