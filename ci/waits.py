"""Times of OpenMP programs that wait in the system's ways, on manycore's library over GCC's; for ci/waits.sh.

    waits.py PROGRAM LIBRARY ROUNDS RANKS WAYS CSV

In each round both libraries run, and each is first in half of the rounds. A cell of the table is one way to wait with one number of
ranks. It has the median times, their ratio, and the ratio's 95% interval: rounds are drawn again, with both times of each, 2,000 times.

* SLOW: the whole interval is above 1.5. This ends with an error.
* wide: the interval contains 1.5. This is named, and no error.
* WRONG: a program ended otherwise than expected on our library. An error.

Fewer than five rounds say nothing of the median: then no cell is judged by its times. A cell ends early if GCC's library has taken two
seconds and ours was faster each time.
"""

import csv
import os
import random
import statistics
import subprocess
import sys
import time

MOST, DRAWS, LEAST_ROUNDS, ENOUGH_MS = 1.5, 2000, 5, 2000
FIELDS = [
    "way", "ranks", "cores", "rounds", "gcc_ms", "gcc_least_ms", "gcc_most_ms", "ours_ms", "ours_least_ms", "ours_most_ms", "ratio",
    "ratio_low", "ratio_high", "verdict",
]


def run(command, ranks, preload, mask, limit):
    """One run: its time in ms, and its exit code and output."""
    variables = dict(os.environ, OMP_NUM_THREADS=str(ranks))
    if preload:
        variables["LD_PRELOAD"] = preload
    began = time.monotonic()
    try:
        done = subprocess.run(
            command, env=variables, capture_output=True, timeout=limit, preexec_fn=lambda: os.sched_setaffinity(0, mask)
        )
        result = done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        result = "hangs", b""
    return (time.monotonic() - began) * 1e3, result


def interval(pairs):
    """The 95% interval of the ratio of medians, by drawing pairs (theirs, ours) again. The same pairs have the same interval."""
    numbers, ratios = random.Random(1), []
    for _ in range(DRAWS):
        theirs, ours = zip(*numbers.choices(pairs, k=len(pairs)))
        ratios.append(statistics.median(ours) / statistics.median(theirs))
    ratios.sort()
    return ratios[round(0.025 * DRAWS)], ratios[round(0.975 * DRAWS) - 1]


def judge(rounds, low, high):
    if rounds < LEAST_ROUNDS or high <= MOST:
        return "good"
    return "SLOW" if low > MOST else "wide"


def measure(program, library, rounds, ranks, way, mask, limit):
    """A cell: pairs of times (theirs, ours), and what is wrong with ours, by its results."""
    command, pairs, wrong = [program, way, "200", "2000"], [], set()
    for turn in range(rounds):
        times = {}
        for preload in ["", library] if turn % 2 == 0 else [library, ""]:
            times[preload], result = run(command, ranks, preload, mask, limit)
            if preload and result != (0, f"{way}: all turns in order\n".encode()):
                wrong.add(str(result))
        pairs.append((times[""], times[library]))
        if sum(theirs for theirs, _ in pairs) > ENOUGH_MS and all(ours < theirs for theirs, ours in pairs):
            break
    return pairs, sorted(wrong)


def main():
    program, library, rounds, ranks, ways, path = sys.argv[1:]
    rounds, limit = int(rounds), float(os.environ.get("LIMIT", "60"))
    cores, named = sorted(os.sched_getaffinity(0)), {"SLOW": [], "wide": [], "WRONG": []}
    print(f"{'way':<12} {'ranks':>5} {'cores':>5} {'gcc ms':>9} {'ours ms':>9} {'ratio':>6} {'95% interval':>14}")
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(FIELDS)
        for way in ways.split():
            for number in map(int, ranks.split()):
                for mask in [cores] + ([cores[:1]] if number == 3 and len(cores) > 1 else []):
                    pairs, wrong = measure(program, library, rounds, number, way, mask, limit)
                    theirs, ours = zip(*pairs)
                    middle, own = statistics.median(theirs), statistics.median(ours)
                    low, high = interval(pairs)
                    verdict = "WRONG" if wrong else judge(len(pairs), low, high)
                    cell = f"{way}, {number} ranks on {len(mask)} cores"
                    for result in wrong:
                        print(f"waits: {cell}: {result}", file=sys.stderr)
                    if verdict != "good":
                        named[verdict].append(f"{cell}: {own / middle:.2f}, {low:.2f} to {high:.2f}")
                    times = [f"{it:.1f}" for it in (middle, min(theirs), max(theirs), own, min(ours), max(ours))]
                    ratios = [f"{it:.3f}" for it in (own / middle, low, high)]
                    table.writerow([way, number, len(mask), len(pairs), *times, *ratios, verdict])
                    file.flush()
                    print(
                        f"{way:<12} {number:>5} {len(mask):>5} {middle:>9.1f} {own:>9.1f} {own / middle:>6.2f} {low:>6.2f} {high:>7.2f}"
                        f"{'' if verdict == 'good' else '  ' + verdict}",
                        flush=True,
                    )
    for verdict, cells in named.items():
        for cell in cells:
            print(f"waits: {verdict}: {cell}")
    if rounds < LEAST_ROUNDS:
        print(f"waits: {rounds} rounds: no times were judged; expected at least {LEAST_ROUNDS}")
    print(f"waits: {len(named['SLOW'])} slow (whole interval above {MOST}), {len(named['wide'])} wide, {len(named['WRONG'])} wrong: {path}")
    sys.exit(bool(named["SLOW"] or named["WRONG"]))


main()
