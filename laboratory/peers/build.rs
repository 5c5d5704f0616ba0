//! Compiles the task functions into the binary, and a shared object of glue for each C or C++ peer
//! with an installed toolchain. A failure to compile is no error: the binary contains the reason
//! and prints it when it runs.

use std::env;
use std::path::PathBuf;
use std::process::Command;

/// A peer's glue, and how to compile it.
struct Glue {
    /// `PEERS_GLUE_<name>` holds the path, `PEERS_MISSING_<name>` the reason.
    name: &'static str,
    source: &'static str,
    /// The standard of C++; C otherwise.
    cpp: Option<&'static str>,
    /// Tried in this order; the first that works is taken.
    compilers: Vec<String>,
    arguments: Vec<String>,
}

fn main() {
    println!("cargo::rerun-if-changed=native");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=TBBROOT");

    // The tasks must cost the same in a debug build, or its tests take minutes.
    cc::Build::new()
        .opt_level(2)
        .warnings(true)
        .file("native/tasks.c")
        .compile("peers_tasks");
    npb();

    // The newest clang first: its runtime comes with it.
    let clangs = (14..=25).rev().map(|version| format!("clang-{version}"));
    let clangs: Vec<_> = clangs.chain(["clang".into()]).collect();
    let glues = [
        Glue {
            name: "GOMP",
            source: "native/openmp.c",
            cpp: None,
            compilers: vec!["gcc".into()],
            arguments: vec!["-fopenmp".into()],
        },
        Glue {
            name: "LIBOMP",
            source: "native/openmp.c",
            cpp: None,
            compilers: clangs.clone(),
            arguments: vec!["-fopenmp=libomp".into()],
        },
        Glue {
            name: "TBB",
            source: "native/tbb.cpp",
            cpp: Some("c++17"),
            compilers: vec!["g++".into(), "clang++".into()],
            arguments: tbb_arguments(),
        },
        Glue {
            name: "STEALING_TBB",
            source: "native/stealing_tbb.cpp",
            cpp: Some("c++17"),
            compilers: vec!["g++".into(), "clang++".into()],
            arguments: tbb_arguments(),
        },
        Glue {
            name: "BARRIER_GOMP",
            source: "native/barrier_openmp.c",
            cpp: None,
            compilers: vec!["gcc".into()],
            arguments: vec!["-fopenmp".into()],
        },
        Glue {
            name: "BARRIER_LIBOMP",
            source: "native/barrier_openmp.c",
            cpp: None,
            compilers: clangs,
            arguments: vec!["-fopenmp=libomp".into()],
        },
        Glue {
            name: "BARRIER_STD",
            source: "native/barrier_std.cpp",
            cpp: Some("c++20"),
            compilers: vec!["g++".into(), "clang++".into()],
            arguments: vec!["-pthread".into()],
        },
        Glue {
            name: "BARRIER_PTHREAD",
            source: "native/barrier_pthread.c",
            cpp: None,
            compilers: vec!["gcc".into(), "clang".into()],
            arguments: vec!["-pthread".into()],
        },
    ];
    for glue in glues {
        match glue.build() {
            Ok(path) => println!(
                "cargo::rustc-env=PEERS_GLUE_{}={}",
                glue.name,
                path.display()
            ),
            Err(why) => println!("cargo::rustc-env=PEERS_MISSING_{}={why}", glue.name),
        }
    }
}

/// The programs of NPB in C: one file a program. They are compiled for the processor that
/// the Rust code is for, and as there products and sums are not contracted.
fn npb() {
    let rust_flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let processor = rust_flags
        .split('\x1f')
        .filter_map(|flag| flag.strip_prefix("-C").unwrap_or(flag).split_once('='))
        .filter(|(option, _)| *option == "target-cpu")
        .map(|(_, processor)| processor.to_owned())
        .next_back();
    let target = env::var("CARGO_CFG_TARGET_ARCH").expect("set by cargo");
    // rustc's default; elsewhere the compiler's.
    let processor = processor.or((target == "x86_64").then(|| "x86-64".to_owned()));
    let mut flags = vec!["-ffp-contract=off".to_owned()];
    flags.extend(processor.map(|processor| format!("-march={processor}")));

    let sources = std::fs::read_dir("native/npb").expect("it is part of the sources");
    let sources = sources.map(|entry| entry.expect("it can be read").path());
    let mut build = cc::Build::new();
    build
        .opt_level(3)
        .debug(false)
        .warnings(true)
        .files(sources.filter(|path| path.extension().is_some_and(|it| it == "c")));
    for flag in &flags {
        build.flag(flag);
    }
    build.compile("peers_npb");
    println!("cargo::rustc-link-lib=m");
    let compiler = build.get_compiler().to_command().arg("--version").output();
    let version = compiler.map_or_else(
        |error| error.to_string(),
        |output| String::from_utf8_lossy(&output.stdout).into_owned(),
    );
    println!(
        "cargo::rustc-env=PEERS_NPB_COMPILER={}, -O3 {}",
        one_line(&version),
        flags.join(" ")
    );
}

/// The system's TBB, or the TBB in the folder of the usual variable `TBBROOT`.
fn tbb_arguments() -> Vec<String> {
    let mut arguments = Vec::new();
    if let Ok(root) = env::var("TBBROOT") {
        arguments.push(format!("-I{root}/include"));
        arguments.push(format!("-L{root}/lib"));
        arguments.push(format!("-Wl,-rpath,{root}/lib"));
    }
    arguments.push("-ltbb".into());
    arguments
}

impl Glue {
    /// The path of the shared object, or the reason why there is none.
    fn build(&self) -> Result<PathBuf, String> {
        let mut why = format!(
            "{} was not found",
            self.compilers.last().expect("at least one")
        );
        for compiler in &self.compilers {
            match self.build_with(compiler) {
                Ok(path) => return Ok(path),
                Err(Some(message)) => why = message,
                Err(None) => (),
            }
        }
        Err(why)
    }

    /// `Err(None)`: there is no such compiler.
    fn build_with(&self, compiler: &str) -> Result<PathBuf, Option<String>> {
        if Command::new(compiler).arg("--version").output().is_err() {
            return Err(None);
        }
        let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
        let path = out.join(format!("libpeers_{}.so", self.name.to_lowercase()));
        let mut build = cc::Build::new();
        build
            .compiler(compiler)
            .cpp(self.cpp.is_some())
            .opt_level(2)
            .pic(true)
            .cargo_metadata(false);
        if let Some(standard) = self.cpp {
            build.std(standard);
        }
        let tool = build
            .try_get_compiler()
            .map_err(|e| Some(one_line(&e.to_string())))?;
        let output = tool
            .to_command()
            .args(["-shared", self.source, "-o"])
            .arg(&path)
            .args(&self.arguments)
            .output()
            .map_err(|e| Some(one_line(&e.to_string())))?;
        if output.status.success() {
            return Ok(path);
        }
        let text = String::from_utf8_lossy(&output.stderr);
        let line = text
            .lines()
            .find(|line| line.contains("error"))
            .or(text.lines().next());
        Err(Some(one_line(
            line.unwrap_or("the compiler failed without a word"),
        )))
    }
}

/// A `cargo::` instruction ends at the first line break.
fn one_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim().to_owned()
}
