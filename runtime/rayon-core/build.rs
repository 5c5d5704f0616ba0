//! There is nothing to build: Cargo wants a build script beside `links`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
}
