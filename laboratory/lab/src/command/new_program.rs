//! `manycore new-program NAME`: makes a small crate that uses the simulated chip.

use super::output::print;
use crate::cli::NewProgramArgs;
use crate::failure::bad_input;
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};

/// The program is an example of the crate `manycore-chip`, so that it is built and tested with that crate.
const PROGRAM: &str = include_str!("../../../../simulator/chip/examples/lock.rs");

/// Atomics of `std`, and the platform's atomics that replace them.
const ATOMICS: [(&str, &str); 12] = [
    ("AtomicBool", "AtomicBool"),
    ("AtomicU8", "AtomicU32"),
    ("AtomicU16", "AtomicU32"),
    ("AtomicU32", "AtomicU32"),
    ("AtomicU64", "AtomicU64"),
    ("AtomicUsize", "AtomicUsize"),
    ("AtomicI8", "AtomicU32"),
    ("AtomicI16", "AtomicU32"),
    ("AtomicI32", "AtomicU32"),
    ("AtomicI64", "AtomicU64"),
    ("AtomicIsize", "AtomicUsize"),
    ("AtomicPtr", "AtomicPtr"),
];

/// The longest name.
const LONGEST: usize = 64;

pub(super) fn run(args: &NewProgramArgs) -> anyhow::Result<()> {
    let name = checked(&args.name)?;
    let crates = sources(args.manycore.as_deref())?;
    let folder = Path::new(name);
    // If two commands run at the same time, only one of them makes the folder.
    fs::create_dir(folder).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => bad_input(format!(
            "new-program {name}: this file or folder exists already; expected another name"
        )),
        _ => bad_input(format!(
            "new-program {name}: cannot make this folder: {error}"
        )),
    })?;
    let write = |file: &str, text: &str| {
        let path = folder.join(file);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    };
    fs::create_dir(folder.join("src")).with_context(|| format!("cannot make {name}/src"))?;
    write("Cargo.toml", &manifest(name, &crates))?;
    write("src/main.rs", PROGRAM)?;
    write(".gitignore", "/target\n/timeline.json\n")?;
    write("clippy.toml", &unannounced())?;
    print(&format!(
        "wrote {name}/Cargo.toml and {name}/src/main.rs: a lock and a barrier\n\n\
         cd {name}\n\
         cargo run --release                          # on this machine\n\
         cargo run --release -- atac-64               # on 64 simulated cores\n\
         cargo run --release -- atac-64 cores=1024    # on 1,024\n"
    ))
}

/// Returns the name if a crate may have it.
fn checked(name: &str) -> anyhow::Result<&str> {
    let first = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic());
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let reserved = ["test", "core", "std", "alloc", "proc_macro", "proc-macro"];
    let taken = reserved.contains(&name) || is_keyword(name) || name.starts_with("manycore-");
    if first && name.len() <= LONGEST && name.chars().all(fits) && !taken {
        return Ok(name);
    }
    Err(bad_input(format!(
        "new-program {name}: expected the name of a crate: a letter, then letters, digits, - and \
         _, at most {LONGEST} of them, and neither a keyword of Rust nor a name of this project"
    )))
}

/// Keywords of Rust, which cargo does not accept as a crate's name.
fn is_keyword(name: &str) -> bool {
    const WORDS: [&str; 51] = [
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
        "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
        "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub",
        "ref", "return", "self", "Self", "static", "struct", "super", "trait", "true", "try",
        "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "yield",
    ];
    WORDS.contains(&name) || name == "while"
}

/// Returns the folder of this project: `asked`, or else the sources of this command.
fn sources(asked: Option<&Path>) -> anyhow::Result<PathBuf> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = asked.unwrap_or(&sources);
    let is_there = root.join("simulator/chip/Cargo.toml").is_file();
    match root.canonicalize() {
        Ok(path) if is_there => Ok(path),
        _ if asked.is_none() => Err(bad_input(
            "new-program: this command was installed without the sources of manycore; expected \
            --manycore DIR with the folder of a clone",
        )),
        _ => Err(bad_input(format!(
            "--manycore {}: expected the folder of manycore's sources, with simulator/chip in it",
            root.display()
        ))),
    }
}

/// Returns the manifest of a crate that is not a member of an enclosing workspace.
fn manifest(name: &str, sources: &Path) -> String {
    let path = |of: &str| toml_text(&sources.join(of).display().to_string());
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \
         \"2024\"\n\n[dependencies]\n# The simulated machines.\nmanycore-chip = {{ path = {} \
         }}\n# The interface between a program and a machine, and this \
         machine.\nmanycore-platform = {{ path = {} }}\n\n# This crate is not a member of a \
         workspace in a folder above.\n[workspace]\n",
        path("simulator/chip"),
        path("runtime/platform")
    )
}

/// The settings by which clippy reports atomics that the simulated machine does not see.
fn unannounced() -> String {
    let mut text = String::from(
        "# The simulated machine sees only what goes through `Platform`. An atomic of `std` \
         costs\n# nothing there, and a thread that waits for it waits for ever. `cargo clippy` \
         reports them.\ndisallowed-types = [\n",
    );
    for (atomic, instead) in ATOMICS {
        text += &format!(
            "    {{ path = \"std::sync::atomic::{atomic}\", reason = \"the simulated machine does not see \
             it: use P::{instead}\" }},\n"
        );
    }
    text + "]\n"
}

/// Returns the text as a TOML string.
fn toml_text(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_crates() {
        for name in ["lock", "my-lock", "a_1", "Z"] {
            assert_eq!(checked(name).unwrap(), name);
        }
        let long = "a".repeat(65);
        for name in [
            "", "1a", "-a", "a b", "a/b", "../a", "fn", "test", "while", "\u{e9}", "a\n", &long,
        ] {
            let error = checked(name).unwrap_err().to_string();
            assert!(error.contains("expected the name of a crate"), "{error}");
        }
    }
}
