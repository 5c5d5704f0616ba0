#!/usr/bin/env bash
# The platform seam costs nothing: counts, with callgrind, the instructions of
# the same claim loop over `Platform` and by hand, and fails if they differ.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v valgrind >/dev/null; then
    echo "seam-cost: valgrind is not installed; skipped"
    exit 0
fi
cargo build --quiet --release -p manycore-platform --example seam_cost
program=${CARGO_TARGET_DIR:-target}/release/examples/seam_cost
out=$(mktemp)
trap 'rm -f "$out"' EXIT
count() {
    # --toggle-collect counts only inside the function named.
    valgrind --tool=callgrind --callgrind-out-file="$out" --toggle-collect="*$1*" "$program" 2>&1 |
        sed -n 's/.*Collected : *//p'
}
seam=$(count over_platform)
hand=$(count by_hand)
echo "seam-cost: over Platform $seam instructions, by hand $hand"
if [ -z "$seam" ] || [ "$seam" -eq 0 ] || [ "$seam" -ne "$hand" ]; then
    echo "seam-cost: FAILED, the two should be equal and not zero" >&2
    exit 1
fi
