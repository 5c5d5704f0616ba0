//! Linker flags.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // The library's threads go on, and threads call it as they end, after a program that has loaded it late closes it.
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
