#!/usr/bin/env bash
# rayon's own tests on manycore's pool: the package rayon from crates.io, unmodified, with its
# rayon-core patched by runtime/rayon-core; and rayon-core's own tests, against that crate.
#
#   ci/rayon.sh             all, with the default number of threads, 1 and 8; and that each test of
#                           what rayon's users asked for fails on the original; and rayon and
#                           manycore in one program, with either core
#   ci/rayon.sh --quick     rayon-core's tests, with the default number of threads
#
# Cargo fetches the packages. Nothing of theirs is stored here: they are copied into the target
# folder and run there. Two of rayon-core's 101 unit tests (`workers_stop`, `sleeper_stop`)
# look at its private registry and are cut out; three enter a worker by a private function, which
# is replaced by `scope`.
set -euo pipefail
cd "$(dirname "$0")/.."
rayon=1.12.0 core=1.13.0
threads=('' 1 8) quick=false
case ${1-} in
'') ;;
--quick) quick=true threads=('') ;;
*) echo "rayon: expected --quick or nothing; found $1" >&2; exit 2 ;;
esac
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR=$target/rayon
root=$PWD ours=$PWD/runtime/rayon-core
work=$target/rayon/packages
mkdir -p "$work"

# Where cargo has unpacked package $1 of version $2, which a manifest of one line asks for.
package() {
    local asks=$work/asks-$1
    mkdir -p "$asks/src"
    touch "$asks/src/lib.rs"
    printf '[package]\nname = "asks"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n[dependencies]\n%s = "=%s"\n' \
        "$1" "$2" >"$asks/Cargo.toml"
    cargo metadata --quiet --format-version 1 --manifest-path "$asks/Cargo.toml" |
        python3 -c 'import json, os, sys
for package in json.load(sys.stdin)["packages"]:
    if (package["name"], package["version"]) == (sys.argv[1], sys.argv[2]):
        print(os.path.dirname(package["manifest_path"]))' "$1" "$2"
}
core_source=$(package rayon-core $core)

# A crate with rayon-core's test files over ours. What they call of its inside stands here.
tests=$work/rayon-core-tests
rm -rf "$tests"
mkdir -p "$tests/src"
cp -r "$core_source/tests" "$tests/tests"
for part in spawn scope join broadcast thread_pool; do
    mkdir -p "$tests/src/of_$part"
    cp "$core_source/src/$part/test.rs" "$tests/src/of_$part/test.rs"
done
cp "$core_source/src/test.rs" "$tests/src/root.rs"
cp -r "$core_source/src/compile_fail" "$tests/src/compile_fail"
python3 - "$tests/src/of_thread_pool/test.rs" <<'EOF'
import re, sys
text = open(sys.argv[1]).read()
for name in "workers_stop", "sleeper_stop":
    text, found = re.subn(r"#\[test\]\n(?:#\[.*\]\n)*fn " + name + r"\(\) \{\n(?:.*\n)*?\}\n", "", text)
    assert found == 1, name
open(sys.argv[1], "w").write(text)
EOF
cat >"$tests/src/lib.rs" <<'EOF'
pub use rayon_core::*;
mod compile_fail;
#[cfg(test)]
mod registry {
    /// Runs `op` in a pool.
    pub(crate) fn in_worker<R: Send>(op: impl FnOnce((), bool) -> R + Send) -> R {
        crate::scope(|_| op((), false))
    }
}
#[cfg(test)]
mod unwind {
    pub(crate) fn halt_unwinding<R>(op: impl FnOnce() -> R) -> std::thread::Result<R> {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(op))
    }
}
#[cfg(test)]
#[path = "root.rs"]
mod test;
EOF
for part in spawn scope join broadcast thread_pool; do
    printf '#[cfg(test)]\nmod of_%s {\n    #[allow(unused_imports)]\n    use crate::{self as _, join, join_context, spawn, spawn_fifo, unwind};\n    mod test;\n}\n' \
        $part >>"$tests/src/lib.rs"
done
cat >"$tests/Cargo.toml" <<EOF
[package]
name = "rayon-core-tests"
version = "0.0.0"
edition = "2021"
[workspace]
[dependencies]
rayon-core = { path = "$ours" }
[dev-dependencies]
crossbeam-utils = "0.8"
rand = "0.9"
rand_xorshift = "0.4"
scoped-tls = "1.0"
[target.'cfg(unix)'.dev-dependencies]
libc = "0.2"
EOF

patch=(--config "patch.crates-io.rayon-core.path=\"$ours\"")
if ! $quick; then
    rm -rf "$work/rayon"
    cp -r "$(package rayon $rayon)" "$work/rayon"
    rm -f "$work/rayon/Cargo.lock"
    cd "$work/rayon"
    # The target folder may lie within our own workspace.
    grep -q '^\[workspace\]' Cargo.toml || printf '\n[workspace]\n' >>Cargo.toml
    # Without this line cargo would take the original, and only warn.
    cargo "${patch[@]}" tree --quiet -i rayon-core | grep -qF "$ours"
fi
for number in "${threads[@]}"; do
    [ -z "$number" ] || export RAYON_NUM_THREADS=$number
    echo "rayon: RAYON_NUM_THREADS=${RAYON_NUM_THREADS-}"
    (cd "$tests" && cargo test --quiet)
    $quick || (cd "$work/rayon" && cargo "${patch[@]}" test --quiet)
done
$quick && exit
unset RAYON_NUM_THREADS

# The original, to see that the tests of `asked_for` can fail.
original=$work/original
mkdir -p "$original/src" "$original/tests"
touch "$original/src/lib.rs"
cp "$ours/tests/asked_for.rs" "$original/tests/"
cat >"$original/Cargo.toml" <<EOF
[package]
name = "original"
version = "0.0.0"
edition = "2024"
[workspace]
[dev-dependencies]
rayon-core = "=$core"
libc = "0.2"
EOF
cd "$original"
cargo test --quiet --no-run
cargo test --quiet -- --list | sed -n 's/: test$//p' | while read -r name; do
    if timeout --kill-after=1 60 cargo test --quiet -- --exact "$name" >/dev/null 2>&1; then
        echo "rayon: $name passes on the original rayon-core: it shows nothing" >&2
        exit 1
    fi
    echo "rayon: $name fails on the original"
done

# rayon and manycore, which call each other; the copy's lock file is changed by the patch.
together=$work/together
rm -rf "$together"
cp -r "$root/laboratory/peers/drop-in" "$together"
sed -i "s#\.\./\.\./\.\./runtime#$root/runtime#" "$together/Cargo.toml"
cd "$together"
cargo test --quiet --test together
MANYCORE_TEST_CORE_IS_OURS=1 cargo "${patch[@]}" test --quiet --test together
