#!/usr/bin/env bash
# ThreadSanitizer: tests of runtime/manycore, team and research with every access to memory instrumented, the
# standard library's as well (-Zbuild-std), natively and in parallel. It sees plain accesses that
# nothing orders, in runs far longer than Miri's: above all `tests/mixture.rs`, where several
# callers mix everything that two pools have, and `tests/permits.rs`, where bodies wait and threads move
# from permit to permit. Needs a nightly toolchain; installs its rust-src.
#
#   ci/tsan.sh                 all tests named below
#   ci/tsan.sh mixture small   these
#
# What it cannot see:
#
# * *Fences.* ThreadSanitizer has no model of `fence`, let alone of `membarrier`: it neither takes
#   a fence for an order, nor notices one that is missing. These protocols rely on one, and are
#   checked by loom instead (`ci/model.sh`):
#     - join: a pop against a thief's raise (`steal/stack.rs`; `steal/checked/`);
#     - sleep: a post against the last look of a worker that lies down (`sleep/nearest/`
#       of manycore, `sleep/published/` of programs; `checked` beside each);
#     - the caller slot: a caller that leaves against a post, and the end of a pool against its last
#       root (`pool/permits/`, `pool/registry.rs`; `pool/checked/`);
#     - barriers: a release against a member that falls asleep (`barrier/waiting.rs`;
#       `barrier/checked/`);
#     - channels: a sender against a receiver that falls asleep, and a reader that is overtaken
#       (`channel/bell.rs`, `ring.rs`; `channel/checked/`).
#   In all of these the data itself is passed on by an acquire that reads from a release, which
#   ThreadSanitizer does see; so fences give no false alarms, and no suppression is needed.
# * *Orders that the machine does not bring about*: an access that is too weak shows only where
#   the two sides met without another order between them. Miri and loom try stale values.
# * *Moves of a stack from thread to thread*: teams that follow an allotment run on coroutines,
#   whose switches it is not told of. Their tests (`team`, `team_panics`, `elastic`) are left out.
# * *Depth.* Its own stack of callers has room for 65,536: tests that go a million joins deep (`deep`)
#   are left out. Threads that nobody joins (a pool that one of its own jobs drops) are no alarm.
# * Children of a fork (`forks`) and whole processes (`global`, `membarrier`): nothing is shared.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! rustup toolchain list | grep -q nightly; then
    echo "tsan: no nightly toolchain is installed; skipped"
    exit 0
fi
rustup --quiet component add --toolchain nightly rust-src
tests=("$@")
if [ $# -eq 0 ]; then
    tests=(mixture permits small contract fork barrier channel loops slices pool disciplines)
fi
chosen=()
for test in "${tests[@]}"; do
    chosen+=(--test "$test")
done
# A folder of its own: nothing of it is any other build's.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/tsan
export RUSTFLAGS="-Zsanitizer=thread"
# An alarm fails the process at its end, so that one run shows them all. --target: build scripts
# and macros are not instrumented. Shuttle's and loom's tasks are coroutines.
TSAN_OPTIONS="halt_on_error=0 exitcode=66 report_thread_leaks=0" \
    cargo +nightly test -Zbuild-std --target x86_64-unknown-linux-gnu -p manycore -p manycore-team -p manycore-programs "${chosen[@]}" \
    -- --skip shuttle --skip loom --skip deep
