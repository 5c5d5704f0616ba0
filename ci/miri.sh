#!/usr/bin/env bash
# Miri: one of everything (crates/runtime/tests/small.rs) on an interpreter that
# knows Rust's memory model and aliasing rules, under four seeds of its
# scheduler. Five minutes, and seven more the first time, which builds the
# standard library. Needs a nightly toolchain; installs its components.
#
# The model checkers see atomics and nothing else; Miri sees every access to
# plain memory, the frames of loops, joins and scopes on their callers' stacks above
# all.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! rustup toolchain list | grep -q nightly; then
    echo "miri: no nightly toolchain is installed; skipped"
    exit 0
fi
rustup --quiet component add --toolchain nightly miri rust-src
flags=(
    # A pool looks at /sys for the machine's cores, and at the clock.
    -Zmiri-disable-isolation
    # rustix passes integers where the kernel's interface has pointers.
    -Zmiri-permissive-provenance
    # Schedules and stale values are chosen at random.
    -Zmiri-many-seeds=0..4
)
MIRIFLAGS="${flags[*]}" cargo +nightly miri test -p manycore --test small
