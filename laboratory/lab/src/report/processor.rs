//! The settings of this host's processors. They affect the speed, and differ between hosts with the same model.

use serde::Serialize;
use std::fs;
use std::path::Path;

/// Settings of the processors. Unknown settings are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Processor {
    /// The frequency governors in use, joined by commas.
    governor: Option<String>,
    /// Whether a core has two hardware threads.
    smt: Option<bool>,
    /// Whether a core may run faster than its base frequency.
    turbo: Option<bool>,
    microcode: Option<String>,
}

impl Processor {
    pub(crate) fn detect() -> Self {
        Self::below(Path::new("/"))
    }

    /// Reads the settings from the files of a Linux system below `root`.
    fn below(root: &Path) -> Self {
        let cpus = root.join("sys/devices/system/cpu");
        let flag = |name: &str| Some(line(&cpus.join(name))? == "1");
        Self {
            governor: governors(&cpus),
            smt: flag("smt/active"),
            // Intel's driver says whether turbo is off, other drivers whether it is on.
            turbo: flag("intel_pstate/no_turbo")
                .map(|without| !without)
                .or_else(|| flag("cpufreq/boost")),
            microcode: microcode(&root.join("proc/cpuinfo")),
        }
    }
}

fn governors(cpus: &Path) -> Option<String> {
    let folders = fs::read_dir(cpus).ok()?.flatten();
    let governor = |folder: fs::DirEntry| line(&folder.path().join("cpufreq/scaling_governor"));
    let mut all: Vec<String> = folders.filter_map(governor).collect();
    all.sort();
    all.dedup();
    (!all.is_empty()).then(|| all.join(","))
}

fn microcode(cpuinfo: &Path) -> Option<String> {
    let text = fs::read_to_string(cpuinfo).ok()?;
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = fields.find(|(key, _)| key.trim() == "microcode")?;
    Some(value.trim().to_owned())
}

fn line(path: &Path) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// The processor's name, or its architecture if the system does not report a name.
pub(crate) fn cpu_model() -> String {
    let named = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        // On x86 the key is `model name`. Other architectures have other keys.
        let name = ["model name", "Processor", "cpu"].iter().find_map(|key| {
            text.lines().find_map(|line| {
                let (found, value) = line.split_once(':')?;
                (found.trim() == *key).then(|| value.trim().to_owned())
            })
        })?;
        (!name.is_empty()).then_some(name)
    });
    named.unwrap_or_else(|| format!("{} processor", std::env::consts::ARCH))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(files: &[(&str, &str)]) -> Processor {
        let root = tempfile::tempdir().unwrap();
        for (name, contents) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, contents).unwrap();
        }
        Processor::below(root.path())
    }

    #[test]
    fn settings_are_read_from_files() {
        let cpu = "sys/devices/system/cpu";
        let governor = |at: usize| format!("{cpu}/cpu{at}/cpufreq/scaling_governor");
        let smt = format!("{cpu}/smt/active");
        let found = system(&[
            (&governor(0), "powersave\n"),
            (&governor(1), "performance\n"),
            (&governor(2), "performance\n"),
            (&smt, "1\n"),
            (&format!("{cpu}/intel_pstate/no_turbo"), "1\n"),
            ("proc/cpuinfo", "processor\t: 0\nmicrocode\t: 0x2b\n"),
        ]);
        let expected = Processor {
            governor: Some("performance,powersave".into()),
            smt: Some(true),
            turbo: Some(false),
            microcode: Some("0x2b".into()),
        };
        assert_eq!(found, expected);
        let found = system(&[(&format!("{cpu}/cpufreq/boost"), "1\n"), (&smt, "0\n")]);
        assert_eq!((found.turbo, found.smt), (Some(true), Some(false)));
    }

    #[test]
    fn missing_settings_are_unknown() {
        assert_eq!(system(&[]), Processor::default());
    }
}
