#!/usr/bin/env python3
"""Times of real OpenMP clients on manycore's library over those on their own; for ci/clients.sh.

For each client, each setting and each number of threads the two take turns. Results must be the same: where they are not, or where a run
fails, or where ours has run no team, this ends with an error. With --most also where a ratio is above it. A client that is not installed is named, and left out.

All cells of the table are run once before the second pass begins. With --keep each run is noted in a file at once, and a later call goes on
where an earlier one has ended, or adds passes; runs of another build of the library do not count. --minutes ends it in time. The table
has medians, their quartiles, the ratio of the medians, that of the processor times, and in the setting `quota` in how many of the quota's
periods the client was stopped.
"""

import argparse
import csv
import hashlib
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

import client_programs

QUICK = ["kmeans", "lightgbm", "faiss"]
SETTINGS = ["cores", "one", "quota", "busy"]
LIMIT = 120
QUOTA, PERIOD = 1.5, 100_000
FIELDS = ["client", "setting", "threads", "library", "seconds", "cpu", "stopped", "result"]


class Group:
    """A control group with the quota."""

    def __init__(self):
        name = f"manycore-clients-{os.getpid()}"
        self.old = os.path.isdir("/sys/fs/cgroup/cpu")
        self.folder = f"/sys/fs/cgroup/{'cpu/' if self.old else ''}{name}"
        limit = str(int(QUOTA * PERIOD))
        os.mkdir(self.folder)
        with open(f"{self.folder}/{'cpu.cfs_quota_us' if self.old else 'cpu.max'}", "w") as file:
            file.write(limit if self.old else f"{limit} {PERIOD}")

    def enter(self):
        with open(f"{self.folder}/{'tasks' if self.old else 'cgroup.procs'}", "w") as file:
            file.write("0")

    def stopped(self):
        with open(f"{self.folder}/cpu.stat") as file:
            return int(dict(line.split() for line in file)["nr_throttled"])

    def remove(self):
        for _ in range(50):
            try:
                return os.rmdir(self.folder)
            except OSError:
                time.sleep(0.02)


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


class Failed(Exception):
    pass


def once(client, setting, threads, library, group, folder):
    """One run: seconds, processor seconds, periods in which it was stopped, result. `library` is preloaded; None: the client's own. The
    run's files are in `folder`, which is empty."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
    environment.pop("LD_PRELOAD", None)
    check = os.path.join(folder, "check")
    if library:
        environment.update(LD_PRELOAD=library, MANYCORE_OMP_CHECK=check)
    first = [min(os.sched_getaffinity(0))]

    def prepare():
        if setting == "one":
            os.sched_setaffinity(0, first)
        if setting == "quota":
            group.enter()

    stopped = group.stopped() if setting == "quota" else 0
    before, began = os.times(), time.perf_counter()
    try:
        done = subprocess.run(client.command, env=environment, capture_output=True, timeout=LIMIT, preexec_fn=prepare)
    except subprocess.TimeoutExpired:
        raise Failed(f"not done after {LIMIT} s") from None
    took, after = time.perf_counter() - began, os.times()
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise Failed(f"exit {done.returncode}: {lines[-1] if lines else ''}")
    has_team = threads > 1 and setting not in client.serial_in
    if library and has_team and not took_effect(check):
        raise Failed("no team has run on our library")
    result, told = client.read(done.stdout)
    if result == "none":
        raise Failed("has written no result")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return told or took, cpu, group.stopped() - stopped if setting == "quota" else 0, result


def took_effect(path):
    """Whether a process has run a team on the preloaded library, by the file that `MANYCORE_OMP_CHECK` named."""
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8", errors="replace") as file:
        return any(line.split("\t")[2:3] == ["teams"] for line in file)


class Samples:
    """All runs, by cell and library; kept in a file, if one is given."""

    def __init__(self, path, library):
        with open(library, "rb") as file:
            self.build = hashlib.sha256(file.read()).hexdigest()[:12]
        self.all, self.path = {}, path
        if path and os.path.exists(path):
            with open(path, encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    self.put(*(row[field] for field in FIELDS))
        elif path:
            with open(path, "w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerow(FIELDS)

    def put(self, client, setting, threads, library, seconds, cpu, stopped, result):
        if library in ("own", self.build):
            runs = self.all.setdefault((client, setting, int(threads)), {"own": [], self.build: []})
            runs[library].append((float(seconds), float(cpu), int(stopped), result))

    def add(self, cell, library, run):
        row = [*cell, library, f"{run[0]:.5f}", f"{run[1]:.3f}", run[2], run[3]]
        self.put(*row)
        if self.path:
            with open(self.path, "a", encoding="utf-8", newline="") as file:
                csv.writer(file).writerow(row)

    def of(self, cell):
        """The runs of the own library, and ours."""
        runs = self.all.get(cell, {})
        return runs.get("own", []), runs.get(self.build, [])

    def passes(self, cell):
        return min(map(len, self.of(cell)))


def spread(runs):
    """The median, and the quartiles."""
    times = sorted(run[0] for run in runs)
    at = lambda part: times[round(part * (len(times) - 1))]
    return statistics.median(times), at(0.25), at(0.75)


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
    parser.add_argument("--settings", default="cores", help="some of cores, one (one core), quota (1.5 CPUs) and busy (a busy process)")
    parser.add_argument("--clients", help="names with commas between them")
    parser.add_argument("--runs", type=int, help="how often each is run (3; quick: 1)")
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}; their results, not their times")
    parser.add_argument("--most", type=float, help="the largest ratio that is no error")
    parser.add_argument("--least", type=int, default=1, help="the number of clients without which this ends with an error (1)")
    parser.add_argument("--minutes", type=float, default=math.inf, help="no run begins later")
    parser.add_argument("--keep", help="the file where each run is noted, and from which a later call goes on")
    parser.add_argument("--csv", help="the file for the table")
    given = parser.parse_args()
    given.threads = given.threads or ([3] if given.quick else [2, 3, 5, 8])
    given.runs = max(1, given.runs or (1 if given.quick else 3))
    given.settings = given.settings.split(",")
    for setting in given.settings:
        if setting not in SETTINGS:
            parser.error(f"--settings {setting}: expected some of {', '.join(SETTINGS)}")
    return given, parser


def measure(given, clients, samples, library, group):
    """Runs what is not yet there. Returns what has failed, by cell."""
    end, failed = time.monotonic() + 60 * given.minutes, {}
    cells = [(name, setting, threads) for name in clients for setting in given.settings for threads in given.threads]
    for turn in range(given.runs):
        for cell in cells:
            name, setting, threads = cell
            if samples.passes(cell) > turn or cell in failed:
                continue
            if time.monotonic() > end:
                return failed
            # Each is first in half of the turns.
            order = [("own", None), (samples.build, library)]
            for which, preload in order if turn % 2 == 0 else order[::-1]:
                try:
                    with Busy(setting), tempfile.TemporaryDirectory() as folder:
                        samples.add(cell, which, once(clients[name], setting, threads, preload, group, folder))
                except Failed as wrong:
                    failed[cell] = f"{'its own' if which == 'own' else 'ours'}: {wrong}"
                    print(f"clients: {name}, {setting}, {threads}: {failed[cell]}", file=sys.stderr, flush=True)
                    break
    return failed


def report(given, clients, samples, failed):
    """Prints the table; returns how many cells are wrong, and how many there are."""
    head = f"{'client':16}{'setting':9}{'threads':>7}{'runs':>5}{'own s':>9}{'quartiles':>16}{'ours s':>9}{'quartiles':>16}{'ratio':>7}{'cpu':>6}{'stopped':>10}  result"
    print(head)
    rows, wrong = [], len(failed)
    for name in clients:
        for setting in given.settings:
            for threads in given.threads:
                cell = name, setting, threads
                own, ours = samples.of(cell)
                if cell in failed:
                    print(f"{name:16}{setting:9}{threads:7}  FAILED: {failed[cell]}")
                if not own or not ours or cell in failed:
                    continue
                (a, a1, a3), (b, b1, b3) = spread(own), spread(ours)
                cpu = statistics.median(run[1] for run in ours) / max(statistics.median(run[1] for run in own), 1e-3)
                stops = [sum(run[2] for run in runs) for runs in (own, ours)]
                results = {run[3] for run in own + ours}
                same = len(results) == 1
                slow = given.most is not None and b / a > given.most
                wrong += (not same) or slow
                rows.append((name, setting, threads, len(ours), f"{a:.4f}", f"{b:.4f}", f"{b / a:.3f}", f"{cpu:.3f}", *stops, "same" if same else "DIFFERS"))
                stopped = f"{stops[0]}/{stops[1]}" if setting == "quota" else ""
                print(
                    f"{name:16}{setting:9}{threads:7}{min(len(own), len(ours)):5}{a:9.3f}{a1:8.3f}{a3:8.3f}{b:9.3f}{b1:8.3f}{b3:8.3f}"
                    f"{b / a:7.2f}{cpu:6.2f}{stopped:>10}  {rows[-1][-1]}{', SLOW' * slow}"
                )
    mean = lambda ratios: math.exp(statistics.fmean(map(math.log, ratios)))
    for setting in given.settings:
        for threads in given.threads:
            ratios = [float(row[6]) for row in rows if row[1:3] == (setting, threads)]
            if ratios:
                print(f"clients: {setting}, {threads} threads: {len(ratios)} clients, geometric mean {mean(ratios):.2f}, largest {max(ratios):.2f}")
    if given.csv:
        with open(given.csv, "w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(["client", "setting", "threads", "runs", "own_s", "ours_s", "ratio", "cpu_ratio", "own_stopped", "ours_stopped", "result"])
            table.writerows(rows)
    return wrong, len(rows)


def main():
    given, parser = arguments()
    library = os.path.abspath(given.library)
    samples = Samples(given.keep, library)
    group = None
    if "quota" in given.settings:
        try:
            group = Group()
        except OSError as problem:
            print(f"clients: no quota, as this may not make a control group: {problem}", file=sys.stderr)
            given.settings.remove("quota")
    try:
        with tempfile.TemporaryDirectory() as folder:
            all = client_programs.clients(os.path.abspath(given.python), folder)
            names = given.clients.split(",") if given.clients else QUICK if given.quick else list(all)
            for name in names:
                if name not in all:
                    parser.error(f"--clients {name}: expected some of {', '.join(all)}")
            made = {name: all[name]() for name in names}
            clients = {name: client for name, client in made.items() if not client.missing}
            failed = measure(given, clients, samples, library, group)
            wrong, rows = report(given, clients, samples, failed)
            for name, client in made.items():
                if client.missing:
                    print(f"clients: {name}: SKIPPED, {client.missing}")
            print(f"clients: {rows} comparisons of {len(clients)} clients, {wrong} wrong")
            if len(clients) < given.least:
                print(f"clients: {len(clients)} clients are installed; expected {given.least}", file=sys.stderr)
                wrong += 1
    finally:
        if group:
            group.remove()
    sys.exit(1 if wrong or not rows else 0)


main()
