#!/usr/bin/env bash
# Times of OpenMP programs that wait in the system's ways, on the OpenMP library over GCC's: medians of rounds in turn, with
# 95% intervals. ci/waits.py says how a cell of the table is judged. Exits with 1 if a cell is slow, or a result differs.
#
#   ci/waits.sh [RANKS] [ROUNDS] [WAYS]    RANKS: "2 3 5 8"; ROUNDS: 7; WAYS: all of openmp/tests/programs/waits.cpp
#
# The rows with 1 core are runs on one core. LIBRARY names another library than the one that is built; BESIDE
# is a number of busy processes beside all; CSV the file for the table (waits.csv in the folder WORK). Needs g++ and a quiet
# machine.
set -euo pipefail
cd "$(dirname "$0")/.."
ranks=${1:-2 3 5 8} rounds=${2:-7}
ways=${3:-barrier clock condition deadline futex loop mutex pause pipe poll semaphore sleep sleep0 spinlock testandset testlock thread timed yield mixed}
if [ -z "${LIBRARY:-}" ]; then
    cargo build --release --quiet -p manycore-openmp
    LIBRARY=${CARGO_TARGET_DIR:-$PWD/target}/release/libmanycore_gomp.so
fi
work=${WORK:-$(mktemp -d)}
mkdir -p "$work"
g++ -O2 -w -fopenmp -o "$work/waits" openmp/tests/programs/waits.cpp
for ((i = 0; i < ${BESIDE:-0}; i++)); do
    (while :; do :; done) &
done
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
python3 ci/waits.py "$work/waits" "$LIBRARY" "$rounds" "$ranks" "$ways" "${CSV:-$work/waits.csv}"
