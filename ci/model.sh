#!/usr/bin/env bash
# The model checks: every protocol of the runtime under loom and shuttle, and
# the broken variants that they must catch. They are part of `cargo test` too;
# here alone, with how many interleavings and schedules each one tried.
#
#   ci/model.sh            as in CI, under a minute
#   ci/model.sh 100        a hundred times as many random schedules, with a new seed
set -euo pipefail
cd "$(dirname "$0")/.."
# One line a failure; the schedule that fails is printed, not where it was.
export RUST_BACKTRACE=0
# --show-output: the counts are printed by tests that pass.
tests=(--show-output)
case ${1:-1} in
*[!0-9]* | 0) echo "model: expected a factor of at least 1; found $1" >&2; exit 2 ;;
esac
export MANYCORE_SCHEDULES=${1:-1}
if [ "$MANYCORE_SCHEDULES" != 1 ]; then
    export SHUTTLE_RANDOM_SEED=${SHUTTLE_RANDOM_SEED:-$RANDOM}
    echo "model: SHUTTLE_RANDOM_SEED=$SHUTTLE_RANDOM_SEED"
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cargo test --quiet -p manycore-check --tests -- "${tests[@]}" >"$log" 2>&1 || { cat "$log"; exit 1; }
cargo test --quiet -p manycore-cores -p manycore -p manycore-team -p manycore-programs -p manycore-openmp --lib checked -- "${tests[@]}" >>"$log" 2>&1 || { cat "$log"; exit 1; }
awk '/^loom: / { loom += $2 } /^shuttle: / { shuttle += $2 } /^test result/ { print }
     END { printf "model: %d interleavings and %d random schedules, all good\n", loom, shuttle }' "$log"
