//! Compiles the glue to OpenMP and oneTBB, and links their libraries. libgomp is linked statically if the program is.
//! LLVM's runtime and oneTBB come from the folder `GUESTS_SYSROOT`, or from this system if that variable is not set.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=native");
    println!("cargo::rerun-if-env-changed=GUESTS_SYSROOT");
    #[cfg(feature = "openmp")]
    openmp::link();
    #[cfg(feature = "tbb")]
    tbb::link();
}

#[cfg(feature = "openmp")]
mod openmp {
    use std::env::var;
    use std::path::Path;

    pub fn link() {
        let mut build = cc::Build::new();
        build
            .files(["native/openmp.c", "native/together.c"])
            .opt_level(2)
            .warnings(true)
            .flag("-fopenmp");
        let library = if cfg!(feature = "libomp") {
            build.compiler("clang");
            if let Some(sysroot) = super::sysroot() {
                // omp.h is the same for all processors.
                let folder = llvm(&sysroot);
                build.include(folder.join("lib/clang/19/include"));
                println!("cargo::rustc-link-search=native={}/lib", folder.display());
            } else {
                // clang's own files are in lib/clang/VERSION.
                let own = told(&build, "-print-resource-dir");
                let folder = Path::new(&own).ancestors().nth(2);
                let folder = folder.expect("a folder in lib/clang");
                println!("cargo::rustc-link-search=native={}", folder.display());
            }
            "omp"
        } else {
            "gomp"
        };
        build.compile("guests_openmp");
        let features = var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
        if !features.split(',').any(|feature| feature == "crt-static") {
            println!("cargo::rustc-link-lib=dylib={library}");
            return;
        }
        // The folder of the compiler's libraries.
        let path = told(&build, "-print-file-name=libgomp.a");
        match Path::new(&path)
            .parent()
            .filter(|folder| folder.is_absolute())
        {
            Some(folder) => println!("cargo::rustc-link-search=native={}", folder.display()),
            None => panic!("the compiler has no libgomp.a"),
        }
        println!("cargo::rustc-link-lib=static=gomp");
    }

    /// The compiler's answer to a question.
    fn told(build: &cc::Build, question: &str) -> String {
        let mut command = build.get_compiler().to_command();
        let output = command.arg(question).output();
        let output = output.expect("the compiler runs");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// The folder of LLVM's release that `ci/guests.sh` installs.
    fn llvm(sysroot: &Path) -> std::path::PathBuf {
        sysroot.join("usr/lib/llvm-19")
    }
}

#[cfg(feature = "tbb")]
mod tbb {
    use std::env::var;

    pub fn link() {
        let mut build = cc::Build::new();
        build
            .file("native/tbb.cpp")
            .cpp(true)
            .std("c++17")
            .opt_level(2)
            .warnings(true);
        if let Some(sysroot) = super::sysroot() {
            build.include(sysroot.join("usr/include"));
            let processor = var("CARGO_CFG_TARGET_ARCH").expect("cargo sets it");
            let folder = sysroot.join(format!("usr/lib/{processor}-linux-gnu"));
            println!("cargo::rustc-link-search=native={}", folder.display());
        }
        build.compile("guests_tbb");
        println!("cargo::rustc-link-lib=dylib=tbb");
    }
}

#[cfg(any(feature = "openmp", feature = "tbb"))]
fn sysroot() -> Option<std::path::PathBuf> {
    std::env::var_os("GUESTS_SYSROOT").map(Into::into)
}
