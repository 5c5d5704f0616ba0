//! The runtimes by name.

use super::*;
use anyhow::{Result, bail};

/// Starts the runtime called `name` with `threads` threads. They include the caller if it takes
/// part in loops.
///
/// # Errors
///
/// One line with the reason why the runtime cannot start here.
pub fn open(name: &str, threads: usize) -> Result<Box<dyn Peer>> {
    Ok(match name {
        "serial" => Box::new(serial::Serial),
        "manycore" => Box::new(Manycore::new(threads)?),
        "rayon" => Box::new(Rayon::new(threads)?),
        "chili" => Box::new(chili::Chili::new(threads)),
        "paralight" => Box::new(paralight::Paralight::new(threads)?),
        "thread-scope" => Box::new(thread_scope::ThreadScope::new(threads)),
        // GNU's wait policy is read from the environment when the process starts.
        "gomp" | "gomp-passive" => Box::new(foreign::Foreign::new(&foreign::GOMP, threads)?),
        #[cfg(feature = "forkunion")]
        "forkunion" => Box::new(forkunion::ForkUnion::new(threads)?),
        #[cfg(not(feature = "forkunion"))]
        "forkunion" => bail!("manycore-peers was built without the feature `forkunion`"),
        "libomp" => Box::new(foreign::Foreign::new(&foreign::LIBOMP, threads)?),
        "tbb" => Box::new(foreign::Foreign::new(&foreign::TBB, threads)?),
        _ => bail!("there is no runtime `{name}`"),
    })
}
