#!/usr/bin/env python3
"""Whether a simulated machine ranks runtimes as this machine does.

    ci/pairs.py NATIVE.csv SIMULATED.csv [OUT.csv]

Both files are `peers.csv` of `manycore study peers`, one with `--on native`, the other of a machine with at least as
many cores. For each cell of both files (program, threads, peer, gap) the table has manycore's time divided by the
peer's, native and simulated, each with its 95% interval, and the simulated ratio divided by the native one. A cell
differs if this quotient is more than 20% from 1 and the two intervals are apart.
"""
import csv
import math
import statistics
import sys

ALLOWED = 1.2


def cells(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    machines = sorted({row["machine"] for row in rows})
    if len(machines) != 1:
        sys.exit(f"pairs: {path} has the machines {', '.join(machines) or 'none'}; expected one")
    found = {}
    for row in rows:
        if row["ratio_ours"] and row["peer"] != "manycore":
            key = (row["program"], int(row["threads"]), row["peer"], row["gap"])
            ratio = [float(row[name] or "nan") for name in ("ratio_ours", "ratio_ours_low", "ratio_ours_high")]
            found[key] = ratio
    return found


def shown(ratio):
    mean, low, high = ratio
    return f"{mean:.2f}" if math.isnan(low) else f"{mean:.2f} ({low:.2f} to {high:.2f})"


def apart(a, b):
    """Whether two intervals have no value in common. A ratio without an interval is a point."""
    low_a, high_a, low_b, high_b = (
        ratio[0] if math.isnan(ratio[end]) else ratio[end] for ratio in (a, b) for end in (1, 2)
    )
    return high_a < low_b or high_b < low_a


def main(native, simulated, out=None):
    here, there = cells(native), cells(simulated)
    both = [key for key in here if key in there]
    if not both:
        sys.exit(f"pairs: {native} and {simulated} have no cell in common")
    rows = [("program", "threads", "peer", "gap", "native", "simulated", "quotient", "differs")]
    quotients = []
    for key in both:
        quotient = there[key][0] / here[key][0]
        quotients.append(quotient)
        is_far = not 1 / ALLOWED <= quotient <= ALLOWED and apart(here[key], there[key])
        rows.append((*map(str, key), shown(here[key]), shown(there[key]), f"{quotient:.2f}", "yes" if is_far else ""))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())
    far = sum(row[-1] == "yes" for row in rows)
    mean = math.exp(statistics.fmean(map(math.log, quotients)))
    print(f"{far} of {len(both)} cells differ; geometric mean of the quotients {mean:.2f}")
    if out:
        with open(out, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


if len(sys.argv) not in (3, 4):
    sys.exit(__doc__.strip())
main(*sys.argv[1:])
