#!/usr/bin/env python3
"""Whether the studies' numbers are those of a run twice as long.

Runs each simulated study as it is and twice as long, and prints for each the numbers that were
compared, how far they moved, and the one that moved most. One that moves by more than 1% fails the
check, unless the study says itself that it is not steady: packing marks it, and block-size and sleep
print a range of runs, p10 to p90, that is wider than 1%.

    ci/doubled.py                         all studies that have a length (packing takes most of the time)
    ci/doubled.py barrier                 this one
    ci/doubled.py packing --cores 15,16   a part of this one: what follows goes to the study

The first line of the output says what was left out that way.

A run that was interrupted goes on where it was: each study's journal is in target/doubled.
"""

import csv
import io
import math
import os
import statistics
import subprocess
import sys

LIMIT = 0.01


class Study:
    """A study, the setting that decides its length, and what a number of it is."""

    def __init__(self, args, once, twice, keys, value, steady=lambda row: True, whole=lambda row: False):
        self.args, self.once, self.twice = args, once, twice
        self.keys, self.value, self.steady, self.whole = keys, value, steady, whole

    def numbers(self, setting, more):
        """By its keys: the number, whether it is steady, whether its length is its own."""
        lab = os.environ.get("MANYCORE")
        command = [lab] if lab else "cargo run --release --quiet -p manycore-lab --".split()
        command += ["study", *self.args.split(), *more, "--set", setting, "--format", "csv"]
        command += ["--out", "target/doubled"]
        text = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout
        rows = list(csv.DictReader(io.StringIO(text)))
        numbers = {}
        for row in rows:
            key = tuple(column(row, name) for name in self.keys)
            numbers[key] = (self.value(row), self.steady(row), self.whole(row))
        return numbers


def column(row, name):
    """A column by how its name begins: what follows may be the unit."""
    found = [key for key in row if key == name] or [key for key in row if key.startswith(name)]
    if not found:
        sys.exit(f"doubled: no column {name}; expected it among {', '.join(row)}")
    return row[found[0]]


def number(row, name):
    return float(column(row, name))


def alike(row, name):
    """Whether what the study prints as the range of its own runs is within the limit."""
    return number(row, name + "_p90") <= (1 + LIMIT) * number(row, name + "_p10")


def an_episode(row):
    return number(row, "total") / number(row, "episodes")


STUDIES = {
    "block-size": Study(
        "block-size --on gold5225r", "rounds=2", "rounds=4",
        ["unit_read", "unit_write", "unit_comp", "threads", "partitioner", "block_size"],
        lambda row: number(row, "latency_median"),
        lambda row: alike(row, "latency"),
    ),
    "sleep": Study(
        "sleep --on dahu --threads 32 "
        "--only life,merge-sort,tsp,packed,split-sleepers-padded,ours", "runs=7", "runs=14",
        ["algorithm", "policy", "mode", "threads"],
        lambda row: number(row, "time_median"),
        lambda row: alike(row, "time"),
    ),
    "barrier": Study(
        "barrier --only channel,sense,futex,dissemination,default --cores 4,16,64",
        "episodes=100", "episodes=200",
        ["machine", "cores", "barrier", "arrivals", "settings"],
        an_episode,
    ),
    "robustness": Study(
        "robustness --only loop,sense,futex,channel", "episodes=100", "episodes=200",
        ["app", "parameter", "value", "barrier"],
        an_episode,
    ),
    "packing": Study(
        "packing", "doublings=0", "doublings=1",
        ["benchmark", "class", "threads", "cores", "mode", "settings"],
        lambda row: number(row, "program_time"),
        lambda row: column(row, "steady") != "false",
        # A program that is run from its first step to its last, or beside cores that come and go.
        lambda row: not column(row, "steady"),
    ),
}

NO_LENGTH = {
    "streamcluster": "the program ends by itself",
    "graph": "the programs end by themselves",
    "stealing": "what is measured is how a heap of tasks comes to its end; a larger heap is "
    "another one, whose end is a smaller part of it",
}


def move(once, twice):
    """How far a number has moved, as a part of it."""
    if once == twice:
        return 0.0
    return abs(twice / once - 1) if once else math.inf


def check(name, more):
    study = STUDIES[name]
    once, twice = study.numbers(study.once, more), study.numbers(study.twice, more)
    missing = set(once) ^ set(twice)
    for key in sorted(missing)[:5]:
        print(f"    only in the {'first' if key in once else 'longer'} run: {' '.join(filter(None, key))}")
    open_ended = {key for key in once if key in twice and not (once[key][2] and twice[key][2])}
    moved = {key: move(once[key][0], twice[key][0]) for key in open_ended}
    steady = {key: by for key, by in moved.items() if once[key][1] and twice[key][1]}
    over = {key: by for key, by in steady.items() if by > LIMIT}
    if not steady:
        print(f"{name:12} no number that is steady; expected one at least, of {len(once)}")
        return False
    worst = max(steady, key=steady.get)
    print(
        f"{name:12} {len(steady):7} {100 * statistics.median(steady.values()):8.3f} "
        f"{100 * steady[worst]:8.3f} {len(over):8} {len(moved) - len(steady):10} "
        f"{len(once) - len(open_ended):6}  " + " ".join(filter(None, worst)),
        flush=True,
    )
    for key, by in sorted(over.items(), key=lambda item: -item[1])[:5]:
        print(f"    moves by {100 * by:.2f}%: {' '.join(filter(None, key))}")
    return not over and not missing


def main():
    os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    flags = next((at for at, word in enumerate(sys.argv) if word.startswith("-")), len(sys.argv))
    names, more = sys.argv[1:flags] or list(STUDIES), sys.argv[flags:]
    unknown = [name for name in names if name not in STUDIES]
    if unknown:
        print(f"doubled: expected any of {', '.join(STUDIES)}; found {unknown[0]}", file=sys.stderr)
        return 2
    if more:
        print(f"only a part: {' '.join(more)}")
    print("study        numbers median, %   most, % over 1% not steady  whole  the one that moves most")
    good = [check(name, more) for name in names]
    for name, why in NO_LENGTH.items() if not sys.argv[1:] else ():
        print(f"{name:12} has no length: {why}")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
