#!/usr/bin/env bash
# The programs of laboratory/peers/drop-in on rayon-core and on runtime/rayon-core, in turn: for each program
# and number of threads the ratio of the medians, ours over the original's, with the 10th and the
# 90th percentile of the rounds' ratios; geometric means; and all times as CSV.
#
#   ci/rayon-bench.sh [--rounds N] [--time MS] [--threads N,...] [--only PATTERN] [--out FILE] [--at-most M]
#                     [--dependents [--without-polars]]
#
#   --rounds      rounds, 7 unless told
#   --time        how long a program runs each time, 40 ms unless told
#   --threads     1,2,4,8 unless told
#   --only        programs whose name matches this regular expression
#   --out         the CSV, out/rayon-bench.csv unless told
#   --at-most     fails if the geometric mean of all is above M, which is what a pool that stopped sharing shows
#   --dependents  the programs of laboratory/peers/drop-in/dependents instead; --without-polars leaves out
#                 those over polars-core, which takes 10 minutes to build for each core
#
# Each core has a copy of the workspace, since the patch changes the lock file. Both are built in
# one folder: what does not depend on rayon is built once.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=7 time=40 threads=1,2,4,8 only=. out=out/rayon-bench.csv at_most=inf
package=manycore-drop-in binary=drop-in features=()
while [ $# -gt 0 ]; do
    case $1 in
    --rounds | --time | --threads | --only | --out | --at-most)
        [ $# -gt 1 ] || { echo "rayon-bench: $1 expects a value" >&2; exit 2; }
        name=${1#--}
        declare "${name//-/_}=$2"
        shift
        ;;
    --dependents) package=manycore-drop-in-dependents binary=dependents ;;
    --without-polars) features=(--no-default-features) ;;
    *) echo "rayon-bench: expected an option that the script's head lists; found $1" >&2; exit 2 ;;
    esac
    shift
done
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")/rayon-bench
patch=(--config "patch.crates-io.rayon-core.path=\"$PWD/runtime/rayon-core\"")
mkdir -p "$target" "$(dirname "$out")"
out=$(realpath "$out")

for core in original ours; do
    copy=$target/$core
    mkdir -p "$copy"
    cp -r laboratory/peers/drop-in/. "$copy"
    rm -rf "$copy/target"
    sed -i "s#\.\./\.\./\.\./runtime#$PWD/runtime#" "$copy/Cargo.toml"
    flags=()
    [ $core = original ] || flags=("${patch[@]}")
    (
        cd "$copy"
        export CARGO_TARGET_DIR=$target/built
        cargo "${flags[@]}" build --release --quiet -p $package --bin $binary "${features[@]}"
        # Without this line the original could be measured twice: cargo only warns.
        linked=$(cargo "${flags[@]}" tree -p $package "${features[@]}" --quiet -i rayon-core --depth 0)
        case $core:$linked in
        ours:*runtime/rayon-core* | original:*v1.13.0) ;;
        *) echo "rayon-bench: $core links $linked" >&2; exit 1 ;;
        esac
        cp "$target/built/release/$binary" "$target/$binary-$core"
    )
done

python3 - "$rounds" "$time" "$threads" "$only" "$out" "$at_most" \
    "$target/$binary"-{original,ours} <<'PYTHON'
import csv, math, os, re, statistics, subprocess, sys

rounds, time, threads, only, out, at_most, original, ours = sys.argv[1:]
rounds, threads = int(rounds), [int(n) for n in threads.split(",")]
names = subprocess.run([original], check=True, capture_output=True, text=True).stdout.split()
names = [name for name in names if re.search(only, name)]
if not names:
    sys.exit(f"rayon-bench: no program's name matches {only}")

def nanoseconds(binary, name, threads):
    environment = {**os.environ, "RAYON_NUM_THREADS": str(threads)}
    # A program that hangs must not keep the others from being measured.
    run = subprocess.run([binary, name, time], env=environment, check=True, timeout=60,
                         capture_output=True, text=True)
    return int(run.stdout)

times = {(name, n): [] for n in threads for name in names}
with open(out, "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["program", "threads", "round", "original_ns", "ours_ns"])
    for number in range(rounds):
        for name, n in times:
            # The two take turns at being first, so that a drift of the machine favours neither.
            order = [original, ours] if number % 2 == 0 else [ours, original]
            took = {binary: nanoseconds(binary, name, n) for binary in order}
            pair = took[original], took[ours]
            times[name, n].append(pair)
            writer.writerow([name, n, number, *pair])

def ratios(pairs):
    sorted_ratios = sorted(mine / theirs for theirs, mine in pairs)
    at = lambda share: sorted_ratios[round(share * (len(sorted_ratios) - 1))]
    median = statistics.median(mine for _, mine in pairs) / statistics.median(
        theirs for theirs, _ in pairs)
    return median, at(0.1), at(0.9)

print("program".ljust(26), *(f"{n} thread{'s' * (n > 1)}".ljust(18) for n in threads))
for name in names:
    cells = ("%.2f (%.2f to %.2f)" % ratios(times[name, n]) for n in threads)
    print(name.ljust(26), *(cell.ljust(18) for cell in cells))
def mean(cells):
    return math.exp(statistics.fmean(math.log(ratios(times[cell])[0]) for cell in cells))
means = ("%.3f" % mean([(name, n) for name in names]) for n in threads)
print("geometric mean".ljust(26), *(cell.ljust(18) for cell in means))
print("geometric mean of all".ljust(26), "%.3f" % mean(times))
if mean(times) > float(at_most):
    sys.exit(f"rayon-bench: expected a geometric mean of at most {at_most}")
PYTHON
