//! Records what the lab is built from: results and journals name it.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let root = here.join("../..");
    let sources = sources(&root);
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let rustc = said(Command::new(rustc).arg("--version")).unwrap_or_default();

    // A commit moves the reflog of HEAD; a change of a source is seen by itself.
    let reflog = git(&root, &["rev-parse", "--git-path", "logs/HEAD"]);
    let reflog = reflog.map(|path| root.join(path));
    for path in sources.iter().chain(&reflog).filter(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", path.display());
    }

    let commit = git(&root, &["rev-parse", "HEAD"]).unwrap_or_default();
    let mut status = vec!["status", "--porcelain", "--"];
    let paths = sources.iter().filter_map(|path| path.to_str());
    status.extend(paths);
    let dirty = git(&root, &status).map(|changes| (!changes.is_empty()).to_string());
    for (name, value) in [
        ("RUSTC_VERSION", rustc.clone()),
        ("COMMIT", commit),
        ("DIRTY", dirty.unwrap_or_default()),
        ("BUILD", fingerprint(&sources, &rustc)),
    ] {
        println!("cargo::rustc-env=LAB_{name}={value}");
    }
}

/// All that the workspace's crates are compiled from, and the peers, whose programs the lab runs.
fn sources(root: &Path) -> Vec<PathBuf> {
    let mut all = vec![root.join("Cargo.toml"), root.join("Cargo.lock")];
    let floors = ["runtime", "simulator", "laboratory"].map(|floor| entries(&root.join(floor)));
    let crates = floors.into_iter().flatten().chain([root.join("openmp")]);
    for folder in crates {
        let parts = ["Cargo.toml", "build.rs", "src", "presets", "data"];
        all.extend(parts.map(|part| folder.join(part)));
    }
    all.retain(|path| path.exists());
    let folders = all.iter().filter(|path| path.is_dir()).count();
    assert!(
        folders > 8,
        "the lab's build script does not find the crates"
    );
    all
}

/// A short name of the build: of the sources, the compiler, and how it was called.
fn fingerprint(sources: &[PathBuf], rustc: &str) -> String {
    let mut hasher = DefaultHasher::new();
    rustc.hash(&mut hasher);
    for name in ["TARGET", "PROFILE", "OPT_LEVEL", "CARGO_ENCODED_RUSTFLAGS"] {
        env::var(name).unwrap_or_default().hash(&mut hasher);
    }
    for path in sources {
        add(path, &mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

/// Adds a file's name and contents, or those of all files below a folder.
fn add(path: &Path, hasher: &mut DefaultHasher) {
    path.file_name().hash(hasher);
    match path.is_dir() {
        true => entries(path).iter().for_each(|entry| add(entry, hasher)),
        false => fs::read(path).unwrap_or_default().hash(hasher),
    }
}

/// The entries of a folder, in the same order on every host.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The output of a git command in the checkout; nothing without a checkout.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    // Without the option, to ask for the status would write to the checkout.
    let mut command = Command::new("git");
    said(
        command
            .arg("--no-optional-locks")
            .current_dir(root)
            .args(arguments),
    )
}

/// The standard output of a command that succeeds.
fn said(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
