#!/usr/bin/env python3
"""Times of real OpenMP clients on manycore's library over those on their own; for ci/clients.sh.

For each client, each setting and each number of threads the two take turns, and the medians are compared. Results
must be the same: where they are not, or where a run fails, this ends with an error. With --most also where a ratio is above it.
A client that is not installed is named, and left out.
"""

import argparse
import csv
import hashlib
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIT = os.path.join(HERE, "openmp/tests/clients/fit.py")
OPENBLAS = os.path.join(HERE, "openmp/tests/packages/openblas.c")
PYTHON = ["kmeans", "boosting", "lightgbm", "xgboost", "faiss", "numba", "pykdtree", "finufft"]
QUICK = ["kmeans", "lightgbm", "faiss"]
SETTINGS = ["cores", "one", "busy"]
LIMIT = 120


def run(command, environment):
    """Runs a command to its end; its output, or what was wrong with it."""
    try:
        done = subprocess.run(command, env=environment, capture_output=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return None, f"not done after {LIMIT} s"
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        return None, f"exit {done.returncode}: {lines[-1] if lines else ''}"
    return done.stdout, None


class Fit:
    """A client that is a package of Python's. It tells its result's hash and its time."""

    def __init__(self, python, name):
        self.command = [python, FIT, name]
        module = {"kmeans": "sklearn", "boosting": "sklearn"}.get(name, name)
        self.missing = None
        if subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode:
            self.missing = f"no {module} in {python}"

    def once(self, before, environment):
        output, wrong = run(before + self.command, environment)
        if wrong:
            return None, None, wrong
        result, seconds = output.decode().split()[-2:]
        return result, float(seconds), None


class Program:
    """A client that is a program: its time is that of the process, its result what it writes."""

    def __init__(self, command, file=None, missing=None):
        self.command, self.file, self.missing = command, file, missing

    def once(self, before, environment):
        began = time.perf_counter()
        output, wrong = run(before + self.command, environment)
        took = time.perf_counter() - began
        if wrong:
            return None, None, wrong
        if self.file:
            with open(self.file, "rb") as read:
                output = read.read()
        return hashlib.sha256(output).hexdigest()[:16], took, None


def graphicsmagick(folder):
    if not shutil.which("gm"):
        return Program([], missing="no gm (apt-get install graphicsmagick)")
    picture, result = os.path.join(folder, "in.ppm"), os.path.join(folder, "out.ppm")
    with open(picture, "wb") as file:
        file.write(b"P6 700 500 255\n" + bytes((x * x + 7 * x * (x >> 9)) & 255 for x in range(700 * 500 * 3)))
    words = "-resize 1100x800 -blur 3x1.5 -sharpen 3x1 -rotate 7 -despeckle".split()
    return Program(["gm", "convert", picture, *words, result], result)


def kalign(folder):
    if not shutil.which("kalign"):
        return Program([], missing="no kalign (apt-get install kalign)")
    sequences, seed = os.path.join(folder, "in.fa"), 1
    with open(sequences, "w", encoding="ascii") as file:
        for number in range(120):
            letters = []
            for at in range(300):
                seed = (seed * 6364136223846793005 + 1) % (1 << 64)
                # Relatives: each letter is changed in one of five.
                letters.append("ACDEFGHIKLMNPQRSTVWY"[(at * at if seed >> 33 & 7 else seed >> 40) % 20])
            file.write(f">{number}\n{''.join(letters)}\n")
    result = os.path.join(folder, "out.fa")
    threads = ["sh", "-c", f'exec kalign -n "$OMP_NUM_THREADS" -i {sequences} -o {result}']
    return Program(threads, result)


def openblas(folder):
    program = os.path.join(folder, "openblas")
    headers = "-I/usr/include/x86_64-linux-gnu/openblas-openmp"
    done = subprocess.run(["gcc", "-O2", headers, "-o", program, OPENBLAS, "-lopenblas", "-lm"], capture_output=True)
    if done.returncode:
        return Program([], missing="no OpenBLAS to link with (apt-get install libopenblas-openmp-dev)")
    return Program([program])


def clients(python, folder):
    """All clients, by name."""
    all = {name: (lambda name=name: Fit(python, name)) for name in PYTHON}
    for make in (graphicsmagick, kalign, openblas):
        all[make.__name__] = lambda make=make: make(folder)
    return all


class Busy:
    """A process beside the client that computes, in the setting of that name."""

    def __init__(self, setting):
        self.wanted = setting == "busy"

    def __enter__(self):
        self.child = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if self.wanted else None

    def __exit__(self, *_):
        if self.child:
            self.child.kill()
            self.child.wait()


def compare(client, setting, threads, library, runs):
    """The medians of both, in seconds; or what is wrong."""
    cpu = min(os.sched_getaffinity(0))
    before = ["taskset", "-c", str(cpu)] if setting == "one" else []
    plain = dict(os.environ, OMP_NUM_THREADS=str(threads))
    plain.pop("LD_PRELOAD", None)
    ours = dict(plain, LD_PRELOAD=library)
    times, results = ([], []), set()
    with Busy(setting):
        for turn in range(runs):
            # Each is first in half of the turns.
            for which in (0, 1) if turn % 2 == 0 else (1, 0):
                result, took, wrong = client.once(before, (plain, ours)[which])
                if wrong:
                    return None, None, f"{('its own', 'ours')[which]}: {wrong}"
                results.add(result)
                times[which].append(took)
    theirs, ours = map(statistics.median, times)
    return theirs, ours, None if len(results) == 1 else f"results differ: {' '.join(sorted(results))}"


def numbers(text):
    found = [int(word) for word in text.split(",") if word.isdigit() and 0 < int(word) <= 1024]
    if len(found) != text.count(",") + 1:
        raise argparse.ArgumentTypeError(f"{text}: expected numbers from 1 to 1024 with commas between them")
    return found


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the packages")
    parser.add_argument("--library", required=True)
    parser.add_argument("--threads", type=numbers, help="numbers of threads (2,3,5,8; quick: 3)")
    parser.add_argument("--settings", default="cores", help="some of cores, one (one core) and busy (a busy process)")
    parser.add_argument("--clients", help="names with commas between them")
    parser.add_argument("--runs", type=int, help="how often each is run (3; quick: 1)")
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}; their results, not their times")
    parser.add_argument("--most", type=float, help="the largest ratio that is no error")
    parser.add_argument("--csv", help="the file for a table of all medians")
    given = parser.parse_args()
    given.threads = given.threads or ([3] if given.quick else [2, 3, 5, 8])
    given.runs = max(1, given.runs or (1 if given.quick else 3))
    given.settings = given.settings.split(",")
    for setting in given.settings:
        if setting not in SETTINGS:
            parser.error(f"--settings {setting}: expected some of {', '.join(SETTINGS)}")
    return given, parser


def main():
    given, parser = arguments()
    library = os.path.abspath(given.library)
    failed, rows, skipped = 0, [], []
    with tempfile.TemporaryDirectory() as folder:
        all = clients(os.path.abspath(given.python), folder)
        names = given.clients.split(",") if given.clients else QUICK if given.quick else list(all)
        for name in names:
            if name not in all:
                parser.error(f"--clients {name}: expected some of {', '.join(all)}")
        print(f"{'client':16}{'setting':9}{'threads':>7}{'own s':>10}{'ours s':>10}{'ratio':>8}  result", flush=True)
        for name in names:
            client = all[name]()
            if client.missing:
                skipped.append(f"{name}: SKIPPED, {client.missing}")
                continue
            for setting in given.settings:
                for threads in given.threads:
                    theirs, ours, wrong = compare(client, setting, threads, library, given.runs)
                    start = f"{name:16}{setting:9}{threads:7}"
                    if theirs is None:
                        failed += 1
                        print(f"{start}  FAILED: {wrong}", flush=True)
                        continue
                    ratio = ours / theirs
                    rows.append((name, setting, threads, f"{theirs:.4f}", f"{ours:.4f}", f"{ratio:.3f}", wrong or "same"))
                    slow = given.most is not None and ratio > given.most
                    failed += bool(wrong) or slow
                    print(f"{start}{theirs:10.3f}{ours:10.3f}{ratio:8.2f}  {wrong or 'same'}{', SLOW' * slow}", flush=True)
    for line in skipped:
        print(f"clients: {line}")
    if rows:
        mean = math.exp(statistics.fmean(math.log(float(row[5])) for row in rows))
        print(f"clients: {len(rows)} comparisons, geometric mean {mean:.2f}, {failed} wrong")
    if given.csv:
        with open(given.csv, "w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(["client", "setting", "threads", "own_s", "ours_s", "ratio", "result"])
            table.writerows(rows)
    sys.exit(1 if failed or not rows else 0)


main()
