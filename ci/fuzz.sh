#!/usr/bin/env bash
# Damaged machines, settings, tables, prices and command lines: none may panic,
# hang, or need more than 3 GB. A tenth as many sequences of system calls do here what they do under
# qemu-riscv64, if that is installed. Each case is a seed. One that fails shows its input, and is run
# again by its number:
#
#   ci/fuzz.sh              a million cases, 100,000 sequences
#   ci/fuzz.sh 10000        so many
#   MANYCORE_FUZZ=12..13 cargo test -p manycore-chip --test machine fuzz -- --nocapture
set -euo pipefail
cd "$(dirname "$0")/.."
cases=${1:-1000000}
case $cases in
*[!0-9]* | '') echo "fuzz: expected a number of cases; found $1" >&2; exit 2 ;;
esac
# Machines take the longest: some of them are simulated.
machines=$((cases / 10))
cargo test --quiet --no-run -p manycore-chip --test machine
MANYCORE_FUZZ=$machines cargo test --quiet -p manycore-chip --test machine fuzz -- --nocapture
cargo test --quiet --no-run -p manycore-lab --bin manycore
MANYCORE_FUZZ=$((cases - machines)) \
    cargo test --quiet -p manycore-lab --bin manycore -- --nocapture fuzz::damaged_input
# Sixteen sequences are a case.
cargo test --quiet --no-run -p manycore-riscv --lib
MANYCORE_FUZZ=$((cases / 160 + 1)) cargo test --quiet -p manycore-riscv --lib calls -- --nocapture
