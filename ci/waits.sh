#!/usr/bin/env bash
# Times of OpenMP programs that wait in the system's ways, on the OpenMP library over GCC's: medians of rounds in turn.
#
#   ci/waits.sh [RANKS] [ROUNDS] [WAYS]    RANKS: "2 3 5 8"; ROUNDS: 5; WAYS: all of openmp/tests/programs/waits.cpp
#
# The rows with 1 core are runs on one core. LIBRARY names another library than the one that is built; BESIDE
# is a number of busy processes beside all. Exits with 1 if a program ends otherwise than with GCC's library: a result that
# differs, not a time.
set -euo pipefail
cd "$(dirname "$0")/.."
ranks=${1:-2 3 5 8} rounds=${2:-5}
ways=${3:-barrier condition deadline futex loop mutex pause pipe poll semaphore sleep sleep0 spinlock testandset testlock thread timed yield mixed}
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
python3 - "$work/waits" "$LIBRARY" "$rounds" "$ranks" "$ways" <<'PY'
import os, statistics, subprocess, sys, time

program, library, rounds, ranks, ways = sys.argv[1:]
rounds, limit, failed = int(rounds), float(os.environ.get("LIMIT", "60")), False
cores = sorted(os.sched_getaffinity(0))

def run(command, number, preload, mask):
    variables = dict(os.environ, OMP_NUM_THREADS=str(number))
    if preload:
        variables["LD_PRELOAD"] = preload
    begin = time.monotonic()
    try:
        done = subprocess.run(command, env=variables, capture_output=True, timeout=limit,
                              preexec_fn=lambda: os.sched_setaffinity(0, mask))
        result = done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        result = "hangs", b""
    return time.monotonic() - begin, result

print(f"{'way':<12} {'ranks':>5} {'cores':>5} {'gcc ms':>9} {'ours ms':>9} {'ratio':>6}")
for way in ways.split():
    for number in [int(word) for word in ranks.split()]:
        for mask in [cores] + ([cores[:1]] if number == 3 else []):
            command = [program, way, "200", "2000"]
            times = {"": [], library: []}
            for _ in range(rounds):
                for preload in times:
                    took, result = run(command, number, preload, mask)
                    times[preload].append(took)
                    if preload and result != (0, f"{way}: all turns in order\n".encode()):
                        failed = True
                        print(f"waits: {way}, {number} ranks: {result}", file=sys.stderr)
            theirs, ours = (statistics.median(times[preload]) * 1e3 for preload in ("", library))
            print(f"{way:<12} {number:>5} {len(mask):>5} {theirs:>9.1f} {ours:>9.1f} {ours / theirs:>6.2f}", flush=True)
sys.exit(failed)
PY
