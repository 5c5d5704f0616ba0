#!/usr/bin/env bash
# Packages from crates.io that use rayon, unmodified, on runtime/rayon-core: their own tests, and
# then work of theirs side by side with the original (laboratory/peers/drop-in/dependents).
#
#   ci/rayon-dependents.sh                    all
#   ci/rayon-dependents.sh blake3 ndarray     the tests of these
#
# Cargo fetches the packages. Nothing of theirs is stored here: they are copied into the target
# folder and run there. RAYON_NUM_THREADS is 4 unless set, so that jobs are stolen on any machine.
# polars-core takes 10 minutes of two cores to build.
set -euo pipefail
cd "$(dirname "$0")/.."
all=(blake3 ndarray exr polars-core)
asked=("$@")
[ $# -gt 0 ] || asked=("${all[@]}")
ours=$PWD/runtime/rayon-core
root=$PWD
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
work=$target/rayon-dependents
mkdir -p "$work/packages"
export RAYON_NUM_THREADS=${RAYON_NUM_THREADS:-4}
# Lines of strangers' code are of no use here, and exr asks for link-time optimization.
export CARGO_PROFILE_TEST_DEBUG=0 CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_LTO=off

# What is tested of package $1, as arguments of cargo.
tests_of() {
    case $1 in
    # Left out: the size of a type of the reference for which ours stands (below).
    blake3) echo "--features rayon,mmap -- --skip test_reference_impl_size" ;;
    # Its documentation's examples are the tests of parallel loops that the package has.
    ndarray) echo "--features rayon" ;;
    # Its folder of images is not in the package: the other tests of files need it, and two of these.
    exr) echo "--lib -- --skip border_on_multiview --skip test_value_result::test_error" ;;
    polars-core) echo "--lib" ;;
    *) echo "rayon-dependents: expected any of ${all[*]}; found $1" >&2; exit 2 ;;
    esac
}

# blake3's tests compare it with another implementation, which its package lacks. Here that is
# the same version as it comes from crates.io, on one thread and without code for any processor.
add_reference() {
    local version=${1##*-}
    mkdir -p reference/src
    cat >reference/Cargo.toml <<EOF
[package]
name = "reference_impl"
version = "0.0.0"
edition = "2024"
[dependencies]
blake3 = { version = "=$version", features = ["pure"] }
EOF
    cat >reference/src/lib.rs <<'EOF'
pub struct Hasher(blake3::Hasher);

impl Hasher {
    pub fn new() -> Self {
        Self(blake3::Hasher::new())
    }
    pub fn new_keyed(key: &[u8; 32]) -> Self {
        Self(blake3::Hasher::new_keyed(key))
    }
    pub fn new_derive_key(context: &str) -> Self {
        Self(blake3::Hasher::new_derive_key(context))
    }
    pub fn update(&mut self, input: &[u8]) {
        self.0.update(input);
    }
    pub fn finalize(&self, output: &mut [u8]) {
        self.0.finalize_xof().fill(output);
    }
}
EOF
    printf '\n[dev-dependencies.reference_impl]\npath = "reference"\n' >>Cargo.toml
}

# The packages and their versions are those that the programs of ours are built with.
metadata=$(cargo metadata --quiet --locked --format-version 1 --manifest-path laboratory/peers/drop-in/Cargo.toml)
for package in "${asked[@]}"; do
    arguments=$(tests_of "$package")
    source=$(python3 -c 'import json, os, sys
for package in json.load(sys.stdin)["packages"]:
    if package["name"] == sys.argv[1]:
        print(os.path.dirname(package["manifest_path"]))' "$package" <<<"$metadata")
    echo "rayon-dependents: $(basename "$source") $arguments"
    copy=$work/packages/$package
    rm -rf "$copy"
    cp -r "$source" "$copy"
    # Locks that came with a package may name an older rayon-core, which is not replaced.
    rm -f "$copy/Cargo.lock"
    (
        cd "$copy"
        [ "$package" != blake3 ] || add_reference "$source"
        # Not to be taken for a part of a workspace around the target folder.
        printf '\n[workspace]\n' >>Cargo.toml
        patch=(--config "patch.crates-io.rayon-core.path=\"$ours\"")
        # With the features that are tested: without them nothing may need rayon.
        features=${arguments%% -- *}
        # shellcheck disable=SC2086
        cargo "${patch[@]}" tree --quiet ${features/--lib/} -i rayon-core --depth 0 |
            grep -F "$ours"
        # shellcheck disable=SC2086
        CARGO_TARGET_DIR=$work/tests cargo "${patch[@]}" test --quiet $arguments
    )
done
[ $# -gt 0 ] || CARGO_TARGET_DIR=$target "$root/ci/rayon-bench.sh" --dependents --out out/rayon-dependents.csv
