#!/usr/bin/env bash
# The platforms that this machine is not, for the packages that promise them
# (manycore-platform, manycore-cores, manycore):
#
#   1. compiling, for each target and with the least Rust version that Cargo.toml names;
#   2. tests on 64-bit Arm, which orders memory weakly, emulated by qemu-user;
#   3. tests with what systems other than Linux have in place of its calls
#      (--cfg manycore_portable);
#   4. a program on WebAssembly, where there are no threads, in node.
#
#   ci/platforms.sh            all of it
#   ci/platforms.sh --quick    as in CI, some minutes: 1, and of 2 and 3 what is named below
#
# Installs targets with rustup, and qemu and cross linkers with apt-get where it may; says
# what it skips. An x86-64 machine with Linux is expected.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never RUST_BACKTRACE=0
packages=(-p manycore-platform -p manycore-cores -p manycore -p manycore-team)
quick=false
case ${1:-} in
--quick) quick=true ;;
'') ;;
*) echo "platforms: expected --quick or nothing; found $1" >&2; exit 2 ;;
esac

say() { printf 'platforms: %s\n' "$*"; }
skipped=()
skip() { say "SKIPPED: $*"; skipped+=("$*"); }

# Installs what gives the command $1, packages $2 and so on.
need() {
    local command=$1
    shift
    command -v "$command" >/dev/null && return
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@"; } >/dev/null 2>&1 || true
    command -v "$command" >/dev/null
}

has_target() {
    rustup target list --installed | grep -qx "$1" || rustup --quiet target add "$1" >/dev/null 2>&1
}

# --- 1 ---
targets=()
for target in x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu riscv64gc-unknown-linux-gnu \
    i686-unknown-linux-gnu x86_64-apple-darwin aarch64-apple-darwin x86_64-pc-windows-gnu \
    i686-pc-windows-gnu x86_64-unknown-freebsd wasm32-unknown-unknown; do
    if has_target "$target"; then
        targets+=("$target")
    else
        skip "$target: rustup has no such target to add here"
    fi
done
check_targets() { RUSTFLAGS="-D warnings" cargo check --quiet "${@/#/--target=}" "${packages[@]}"; }
# All at once: the packages of one target are a chain, which leaves cores idle.
check_targets "${targets[@]}" || for target in "${targets[@]}"; do
    check_targets "$target" || { say "does not compile for $target" >&2; exit 1; }
done
say "compiles for ${targets[*]}"
# Checks packages $2 and so on with Rust $1, the least that their Cargo.toml names.
check_least() {
    local least=$1 toolchain
    toolchain=$(rustup toolchain list | grep -oE "^$least(\.[0-9]+)?-[^ ]+" | head -n 1 || true)
    if [ -z "$toolchain" ] && rustup --quiet toolchain install "$least" --profile minimal >/dev/null 2>&1; then
        toolchain=$least
    fi
    if [ -z "$toolchain" ]; then
        skip "Rust $least: rustup cannot install it here"
        return
    fi
    # A folder of its own: two compilers in one would build everything again each time. What
    # an old compiler warns of, and today's does not, is nobody's fault.
    RUSTFLAGS="-A warnings" CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/least \
        cargo "+$toolchain" check --quiet "${@:2}"
    say "compiles with Rust $least: ${*:2}"
}
least_of() { sed -n 's/^rust-version = "\(.*\)"/\1/p' "$1"; }
check_least "$(least_of runtime/platform/Cargo.toml)" -p manycore-platform
check_least "$(least_of runtime/manycore/Cargo.toml)" -p manycore-cores -p manycore -p manycore-team
if ! $quick; then
    check_least "$(least_of Cargo.toml)" --workspace
fi

# Model checks are run nowhere but by ci/model.sh, and `conserving` by cargo test only: loom,
# shuttle and the simulated machine are the same everywhere.
same=(--skip checked --skip conserving)
# Tests of a package for target $1.
test_platform() { cargo test --quiet --target "$1" -p manycore-platform --lib --tests -- "${@:2}"; }
test_runtime() { cargo test --quiet --target "$1" -p manycore "${@:2}"; }

# The tests of manycore that are about more than Linux: without `elastic` and `membarrier`, which
# confine processes of their own.
anywhere=(--lib)
for test in $(ls runtime/manycore/tests | sed 's/\.rs$//' | grep -vxE 'elastic|membarrier|support'); do
    anywhere+=(--test "$test")
done

# --- 2 ---
arm=aarch64-unknown-linux-gnu
if has_target $arm && need qemu-aarch64 qemu-user && need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross; then
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
    # For tests that start themselves once more.
    export MANYCORE_TEST_RUNNER=$CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER
    # `refused`: a filter for system calls, which the emulator does not have. (It cannot start
    # Arm's programs from one either.)
    test_platform $arm --skip refused
    if $quick; then
        # Without cargo, which would first build what manycore's other tests depend on: model
        # checkers, and the simulated machine.
        cargo build --quiet --target $arm -p manycore
        built=${CARGO_TARGET_DIR:-target}/$arm/debug
        for test in small slices; do
            rustc --test --edition 2024 --target $arm -C linker=aarch64-linux-gnu-gcc \
                --extern manycore="$built/libmanycore.rlib" -L dependency="$built/deps" \
                -o "$built/$test" "runtime/manycore/tests/$test.rs"
            $CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER "$built/$test" --quiet
        done
        say "$arm, emulated: manycore-platform, and of manycore one of everything, and slices"
    else
        # `forks`: the emulator hangs when a child of a fork makes threads.
        emulated=()
        for part in "${anywhere[@]}"; do
            [ "$part" = forks ] && unset 'emulated[-1]' || emulated+=("$part")
        done
        # `cannot_start`: the emulator looks for 2^46 bytes of address space page by page.
        test_runtime $arm "${emulated[@]}" -- "${same[@]}" --skip cannot_start
        cargo test --quiet --target $arm -p manycore-cores -p manycore-team --lib --tests -- "${same[@]}"
        say "$arm, emulated: all tests but the model checks, and those of sandboxes and quotas"
        # Another processor, and other floating point than this machine's: the same simulations.
        cargo test --quiet --target $arm -p manycore-riscv --lib -- same_on_every_host
        say "$arm, emulated: the hashes that were made on x86-64"
    fi
else
    skip "$arm: no qemu-user, no cross linker, or no target"
fi

unset MANYCORE_TEST_RUNNER

# --- 3 ---
portable() {
    RUSTFLAGS="--cfg manycore_portable" CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/portable cargo test --quiet "$@"
}
portable -p manycore-platform --lib --tests
if $quick; then
    say "without Linux's own calls: manycore-platform"
else
    # Threads cannot be bound without them.
    portable -p manycore "${anywhere[@]}" -- "${same[@]}" --skip bound_workers_are_bound
    portable -p manycore-cores -p manycore-team --lib --tests -- "${same[@]}"
    say "without Linux's own calls: all tests but the model checks, sandboxes, quotas and binding"
fi

# --- 4 ---
if ! $quick; then
    wasm=wasm32-unknown-unknown
    if has_target $wasm && need node nodejs; then
        cargo build --quiet --release --target $wasm -p manycore --example wasm
        module=${CARGO_TARGET_DIR:-target}/$wasm/release/examples/wasm.wasm
        node -e '
            const bytes = require("fs").readFileSync(process.argv[1]);
            WebAssembly.instantiate(bytes, {}).then(({ instance }) => {
                const failed = instance.exports.run();
                if (failed) throw new Error("check " + failed + " of examples/wasm.rs failed");
            }).catch((error) => { console.error(error); process.exit(1); });
        ' "$module"
        say "$wasm: a pool of one ran loops, joins and scopes in node"
    else
        skip "$wasm: no target, or no node"
    fi
fi

if [ ${#skipped[@]} -gt 0 ]; then
    say "${#skipped[@]} skipped: $(printf '%s; ' "${skipped[@]}")"
fi
