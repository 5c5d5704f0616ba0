#!/usr/bin/env python3
"""Whether the studies' numbers are those of a run twice as long.

Runs each simulated study as it is and twice as long, and prints for each the numbers that were
compared, how far they moved, and the one that moved most. One that moves by more than 1% fails the
check, unless the study says itself that it is not steady: packing marks it, and block-size and sleep
print a range of runs, p10 to p90, that is wider than 1%.

    ci/doubled.py                all studies that have a length, some hours (packing takes most of it)
    ci/doubled.py barrier        this one

A run that was interrupted goes on where it was: each study's journal is in target/doubled.
"""

import csv
import io
import os
import statistics
import subprocess
import sys

LIMIT = 0.01


class Study:
    """A study, the setting that is its length, and what a number of it is."""

    def __init__(self, args, setting, length, keys, value, steady=lambda row: True):
        self.args, self.setting, self.length = args, setting, length
        self.keys, self.value, self.steady = keys, value, steady

    def numbers(self, length):
        command = ["cargo", "run", "--release", "--quiet", "-p", "manycore-lab", "--", "study"]
        command += self.args.split() + ["--set", f"{self.setting}={length}", "--format", "csv"]
        command += ["--out", "target/doubled"]
        text = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout
        rows = list(csv.DictReader(io.StringIO(text)))
        numbers = {}
        for row in rows:
            key = tuple(column(row, name) for name in self.keys)
            numbers[key] = (self.value(row), self.steady(row))
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
        "block-size --on gold5225r", "rounds", 2,
        ["unit_read", "unit_write", "unit_comp", "threads", "partitioner", "block_size"],
        lambda row: number(row, "latency_median"),
        lambda row: alike(row, "latency"),
    ),
    "sleep": Study(
        "sleep --on dahu --threads 32 "
        "--only life,merge-sort,tsp,packed,split-sleepers-padded,ours", "runs", 7,
        ["algorithm", "policy", "mode", "threads"],
        lambda row: number(row, "time_median"),
        lambda row: alike(row, "time"),
    ),
    "barrier": Study(
        "barrier --only channel,sense,futex,dissemination,default --cores 4,16,64", "episodes", 100,
        ["machine", "cores", "barrier", "arrivals", "settings"],
        an_episode,
    ),
    "robustness": Study(
        "robustness --only loop,sense,futex,channel", "episodes", 100,
        ["app", "parameter", "value", "barrier"],
        an_episode,
    ),
    "packing": Study(
        "packing", "intervals", 12,
        ["benchmark", "class", "threads", "cores", "mode", "settings"],
        lambda row: number(row, "program_time"),
        lambda row: column(row, "steady") != "false",
    ),
}

NO_LENGTH = {
    "streamcluster": "the program ends by itself",
    "graph": "the programs end by themselves",
    "stealing": "what is measured is how a heap of tasks comes to its end; a larger heap is "
    "another one, whose end is a smaller part of it",
}


def check(name):
    study = STUDIES[name]
    once, twice = study.numbers(study.length), study.numbers(2 * study.length)
    moved = {key: abs(twice[key][0] / once[key][0] - 1) for key in once if key in twice}
    is_steady = {key: once[key][1] and twice[key][1] for key in moved}
    steady = {key: move for key, move in moved.items() if is_steady[key]}
    over = {key: move for key, move in steady.items() if move > LIMIT}
    worst = max(steady, key=steady.get)
    print(
        f"{name:12} {len(steady):7} {100 * statistics.median(steady.values()):8.3f} "
        f"{100 * steady[worst]:8.3f} {len(over):8} {len(moved) - len(steady):10}  "
        + " ".join(filter(None, worst)),
        flush=True,
    )
    for key, move in sorted(over.items(), key=lambda item: -item[1])[:5]:
        print(f"    moves by {100 * move:.2f}%: {' '.join(filter(None, key))}")
    return not over


def main():
    os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    names = sys.argv[1:] or list(STUDIES)
    unknown = [name for name in names if name not in STUDIES]
    if unknown:
        print(f"doubled: expected any of {', '.join(STUDIES)}; found {unknown[0]}", file=sys.stderr)
        return 2
    print("study        numbers median, %   most, % over 1% not steady  the one that moves most")
    good = [check(name) for name in names]
    for name, why in NO_LENGTH.items() if not sys.argv[1:] else ():
        print(f"{name:12} has no length: {why}")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
