#!/usr/bin/env python3
"""Whether what is found under some orders of events is found under others.

    cargo build --release -p manycore-lab
    python3 ci/orders.py [--cells 20] [--orders 30] [--seed 1] [--manycore target/release/manycore] [--out FILE.csv]

A cell is one random pair of things that do the same work on a simulated machine: barriers, ways to spread tasks, or
sleep policies. Both are run under orders 1 to N and under orders N + 1 to 2N, and each set gives a ratio of their times
with a 95% interval. In at least 19 of 20 cells the two intervals shall overlap. Intervals of normal samples of this
size miss each other in about 1 of 250 cells.
"""

import argparse
import csv
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BARRIERS = "sense combining dissemination tournament mcs futex glibc-2011 sense-on-a-line spin-sleep grouped".split()
DISCIPLINES = "global-queue random offer-mutex offer-cas ours".split()
POLICIES = "packed-padded split split-padded split-sleepers-padded nojec lazy-inactive ours".split()
MACHINES = ["atac-64", "e5-2640x2", "kunpeng-920"]


def cell(rng):
    """A random cell: the study's arguments, the column, what is compared with what, and the rows' other values."""
    study = rng.choice(["barrier", "stealing", "stealing", "graph", "graph", "sleep"])
    machine = rng.choice(MACHINES)
    cores = rng.choice([4, 8, 16])
    if study == "sleep":
        program = rng.choice(["quick-sort", "fibonacci", "tree-preorder", "map-collect"])
        other = rng.choice(POLICIES)
        words = f"--on dahu --threads {cores} --only {program},packed,{other} --set runs=2"
        return study, words, "policy", other, "packed", {"threads": str(cores)}
    words = f"--on {machine} --cores {cores}"
    if study == "barrier":
        other, base = rng.sample(BARRIERS, 2)
        words += f" --set episodes=20 --only {other},{base}"
        if machine == "atac-64":
            words += " --set beside=none"
        return study, words, "barrier", other, base, {"arrivals": "loop", "settings": ""}
    other, base = rng.sample(DISCIPLINES, 2)
    words += f" --only {other},{base}"
    if study == "graph":
        program = rng.choice(["breadth-first", "components", "triangles"])
        return study, f"{words} --set scale=8 --set programs={program}", "discipline", other, base, {}
    distribution = rng.choice(["total-skew", "half", "quarter", "even", "random"])
    length = rng.choice([1200, 12000])
    words += f" --set distributions={distribution} --set task-cycles={length}"
    return study, words, "discipline", other, base, {"answers_every": ""}


def ratio(command, chosen, orders):
    """The ratio of the cell's times under the orders: itself, its low and its high end."""
    study, words, column, other, base, values = chosen
    with tempfile.TemporaryDirectory() as out:
        line = f"{command} study {study} {words} --orders {orders} --versus {column}={base} --out {out}"
        ran = subprocess.run(line.split(), capture_output=True, text=True)
        if ran.returncode != 0:
            sys.exit(f"{line}\n{ran.stderr}")
        rows = list(csv.DictReader(open(Path(out) / f"{study}.sweep.ratios.csv")))
    for row in rows:
        if row[column] == other and all(row.get(key, value) == value for key, value in values.items()):
            return [float(row[name]) for name in ("ratio", "ratio.low", "ratio.high")]
    sys.exit(f"{line}: no row of {other} with {values}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=20)
    parser.add_argument("--orders", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--manycore", default="target/release/manycore")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    if asked.cells < 1 or asked.orders < 2:
        parser.error("expected --cells from 1 and --orders from 2")
    rng = random.Random(asked.seed)
    count, found = asked.orders, []
    for number in range(asked.cells):
        chosen = cell(rng)
        begin = time.monotonic()
        sets = [ratio(asked.manycore, chosen, orders) for orders in (f"1-{count}", f"{count + 1}-{2 * count}")]
        overlap = sets[0][1] <= sets[1][2] and sets[1][1] <= sets[0][2]
        study, words, _, other, base, values = chosen
        told = [f"{mean:.4f} ({low:.4f} to {high:.4f})" for mean, low, high in sets]
        print(
            f"{number + 1:3} {'overlap' if overlap else 'APART  '} {told[0]}  {told[1]}  {other} over {base}: "
            f"{study} {words} {' '.join(values.values())} [{time.monotonic() - begin:.0f} s]",
            flush=True,
        )
        found.append([study, words, other, base, " ".join(values.values()), count, *sets[0], *sets[1], int(overlap)])
    if asked.out:
        with open(asked.out, "w", newline="") as file:
            writer = csv.writer(file)
            names = [f"{name}_{which}" for which in ("first", "second") for name in ("ratio", "low", "high")]
            writer.writerow(["study", "arguments", "name", "base", "row", "orders", *names, "overlap"])
            writer.writerows(found)
    overlaps = sum(row[-1] for row in found)
    print(f"orders: {overlaps} of {len(found)} intervals of two sets of {count} orders overlap")
    sys.exit(overlaps < 0.95 * len(found))


if __name__ == "__main__":
    main()
