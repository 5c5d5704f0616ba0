#!/usr/bin/env bash
# The programs of laboratory/guests for riscv64, a binary for each runtime, for `manycore study peers`.
#
#   ci/guests.sh [--native] [FOLDER [PEER...]]
#
# FOLDER is target/guests unless told; PEER is one of the lines below, and all unless told. A peer
# that does not build is named, and the others are built. Nothing that is built is kept in the
# repository. With --native the binaries are for this machine, and FOLDER is target/guests-native.
#
# Needs Debian's gcc-riscv64-linux-gnu, and Rust's target riscv64gc-unknown-linux-gnu. "libomp" also needs
# clang, and "tbb" g++-riscv64-linux-gnu. Both need FOLDER/sysroot, with packages of Debian 13 for riscv64:
# the script makes it with mmdebstrap. With --native they need libomp-dev and libtbb-dev instead.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD
target=riscv64gc-unknown-linux-gnu
default=target/guests
if [ "${1:-}" = --native ]; then
    shift
    target=$(rustc -vV | sed -n 's/^host: //p')
    default=target/guests-native
fi
folder=${1:-$default}
[ $# -eq 0 ] || shift
# "openmp" is linked statically to libgomp; "openmp-shared" is the same program linked to whatever
# libgomp.so.1 there is when it runs, and "libmanycore_gomp.so" ours, to be loaded before it. "libomp" is
# the program compiled by clang, with LLVM's runtime, and "tbb" is oneTBB.
known="serial manycore manycore-rayon rayon chili forte paralight orx openmp openmp-shared libmanycore_gomp.so libomp tbb"
peers=${*:-$known}
for peer in $peers; do
    case " $known " in
    *" $peer "*) ;;
    *)
        echo "guests: unknown peer $peer; expected some of $known" >&2
        exit 2
        ;;
    esac
done
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
built=$(realpath -m "${CARGO_TARGET_DIR:-target}")/guests-built
log=$built/log
mkdir -p "$built"
export CARGO_TARGET_RISCV64GC_UNKNOWN_LINUX_GNU_LINKER=riscv64-linux-gnu-gcc

# Builds binary $1 of the copy of the crate in $2, with feature $3; further words are for cargo.
build() { # binary copy feature words...
    local binary=$1 copy=$2 feature=$3
    shift 3
    local features=()
    [ -z "$feature" ] || features=(--features "$feature")
    (cd "$copy" && CARGO_TARGET_DIR=$built cargo "$@" build --release --quiet --target "$target" \
        --bin "$binary" "${features[@]}") &&
        cp "$built/$target/release/$binary" "$folder/$peer"
}

# The crate with rayon-core replaced has a lock file of its own.
replaced() {
    local copy=$built/copy
    rm -rf "$copy"
    cp -r laboratory/guests "$copy"
    sed -i "s#\"\.\./\.\./runtime#\"$here/runtime#" "$copy/Cargo.toml"
    local patch=(--config "patch.crates-io.rayon-core.path=\"$here/runtime/rayon-core\"")
    # Without this look rayon could be measured twice: cargo only warns.
    (cd "$copy" && cargo "${patch[@]}" tree --quiet --features rayon -i rayon-core --depth 0 |
        grep -q runtime/rayon-core) && build rayon "$copy" rayon "${patch[@]}"
}

shared() {
    CARGO_TARGET_DIR=$built cargo build --release --quiet -p manycore-openmp --target "$target" &&
        cp "$built/$target/release/libmanycore_gomp.so" "$folder/$peer"
}

# LLVM's runtime and oneTBB for riscv64.
sysroot() {
    export GUESTS_SYSROOT=$folder/sysroot
    local packages=libomp-19-dev,libtbb-dev,libstdc++6,libatomic1
    [ "$(cat "$GUESTS_SYSROOT/packages" 2>/dev/null)" != "$packages" ] || return 0
    rm -rf "$GUESTS_SYSROOT"
    mmdebstrap --quiet --variant=extract --architectures=riscv64 \
        --include="$packages" trixie "$GUESTS_SYSROOT" http://deb.debian.org/debian &&
        ln -s usr/lib "$GUESTS_SYSROOT/lib" &&
        echo "$packages" >"$GUESTS_SYSROOT/packages"
}

# Builds $1 with feature $2 and the libraries of the sysroot, which need a newer C library than this system's.
from_sysroot() {
    [ "$default" = target/guests-native ] || sysroot || return 1
    RUSTFLAGS="-C link-arg=-Wl,--allow-shlib-undefined" build "$1" laboratory/guests "$2"
}

missing=()
for peer in $peers; do
    flags="-C target-feature=+crt-static"
    case $peer in *shared | *.so) flags= ;; esac
    export RUSTFLAGS=$flags
    made=1
    case $peer in
    serial) build serial laboratory/guests "" >"$log" 2>&1 || made= ;;
    manycore-rayon) replaced >"$log" 2>&1 || made= ;;
    openmp-shared) build openmp laboratory/guests openmp >"$log" 2>&1 || made= ;;
    libmanycore_gomp.so) shared >"$log" 2>&1 || made= ;;
    libomp) from_sysroot openmp libomp >"$log" 2>&1 || made= ;;
    tbb) from_sysroot tbb tbb >"$log" 2>&1 || made= ;;
    *) build "$peer" laboratory/guests "$peer" >"$log" 2>&1 || made= ;;
    esac
    if [ -n "$made" ]; then
        echo "guests: $folder/$peer"
    else
        rm -f "$folder/$peer"
        missing+=("$peer")
        echo "guests: missing: $peer: $(grep -m 1 -E '^(error|.*: error)' "$log" || tail -n 1 "$log")"
    fi
done
[ ${#missing[@]} -eq 0 ] || echo "guests: missing: ${missing[*]}"
