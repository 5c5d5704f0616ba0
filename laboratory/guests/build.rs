//! Compiles the glue to OpenMP, and links libgomp: statically if the program is.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "openmp")]
    openmp::link();
}

#[cfg(feature = "openmp")]
mod openmp {
    use std::env::var;
    use std::path::Path;

    pub fn link() {
        println!("cargo::rerun-if-changed=native");
        let mut build = cc::Build::new();
        build
            .files(["native/openmp.c", "native/together.c"])
            .opt_level(2)
            .warnings(true)
            .flag("-fopenmp");
        build.compile("guests_openmp");
        let features = var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
        if !features.split(',').any(|feature| feature == "crt-static") {
            println!("cargo::rustc-link-lib=dylib=gomp");
            return;
        }
        // The folder of the compiler's libraries.
        let mut command = build.get_compiler().to_command();
        let output = command.arg("-print-file-name=libgomp.a").output();
        let output = output.expect("the compiler runs");
        let path = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        match Path::new(&path)
            .parent()
            .filter(|folder| folder.is_absolute())
        {
            Some(folder) => println!("cargo::rustc-link-search=native={}", folder.display()),
            None => panic!("{command:?} has no libgomp.a"),
        }
        println!("cargo::rustc-link-lib=static=gomp");
    }
}
