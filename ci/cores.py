#!/usr/bin/env python3
"""How long a NAS benchmark takes where cores come and go, over what these cores allow.

    ci/cores.py LIBRARY[,LIBRARY...] PROGRAM [--ranks N] [--rounds N] [--period SECONDS] [--only CONDITION,...]

PROGRAM is a benchmark that ci/openmp.sh has built, on libgomp. All runs are on CPUs 0 and 1. In each
round libgomp's one thread and its two threads run with both CPUs; then, under each condition in turn,
N ranks on each LIBRARY, the same not heeding neighbours, and libgomp's N threads. Prints medians, the least
and the most; exits with 1 if a result is wrong.

What the cores allow follows from the two first: progress of 1/t1 a second where there is one core and of
1/t2 where there are two. A quota of 1.5 is half of each. Beside a busy process one core is counted.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import threading
import time

CPUS = {0, 1}
QUOTA, QUOTA_PERIOD = 1.5, 100_000
CONDITIONS = ["both", "quota", "mask", "neighbour"]
LIMIT = float(os.environ.get("LIMIT", "60"))


class Wrong(Exception):
    pass


def quota_group():
    """A control group with the quota: its folder."""
    name = f"manycore-cores-{os.getpid()}"
    if os.path.isdir("/sys/fs/cgroup/cpu"):
        folder, file, text = f"/sys/fs/cgroup/cpu/{name}", "cpu.cfs_quota_us", str(int(QUOTA * QUOTA_PERIOD))
    else:
        folder, file, text = f"/sys/fs/cgroup/{name}", "cpu.max", f"{int(QUOTA * QUOTA_PERIOD)} {QUOTA_PERIOD}"
    os.mkdir(folder)
    with open(f"{folder}/{file}", "w") as out:
        out.write(text)
    return folder


def confine(process, cpus):
    """Gives all threads of the process these CPUs."""
    for task in os.listdir(f"/proc/{process}/task"):
        try:
            os.sched_setaffinity(int(task), cpus)
        except ProcessLookupError:
            pass


class Run:
    """One run of a program: its time in seconds, and its cores by the clock."""

    def __init__(self, program, condition, variables, phase, period):
        self.cores, self.periods, self.neighbour_had = [], None, None
        group = quota_group() if condition == "quota" else None
        beside = subprocess.Popen(["sh", "-c", "while :; do :; done"], preexec_fn=stay) if condition == "neighbour" else None

        def begin():
            stay()
            if group:
                with open(f"{group}/cgroup.procs", "w") as out:
                    out.write(str(os.getpid()))

        environment = {**os.environ, "OMP_DISPLAY_ENV": "false", **variables}
        try:
            began, had = time.time(), processor_time(beside)
            process = subprocess.Popen([program], cwd=os.path.dirname(program), env=environment,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=begin, text=True)
            stops = threading.Event()
            if condition == "mask":
                self.cores.append((began, 2))
                changer = threading.Thread(target=self.change_mask, args=(process.pid, stops, phase, period))
                changer.start()
            try:
                out, _ = process.communicate(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise Wrong(f"did not end within {LIMIT:.0f} s")
            finally:
                self.end = time.time()
                stops.set()
                if condition == "mask":
                    changer.join()
            if group:
                with open(f"{group}/cpu.stat") as file:
                    stat = dict(line.split() for line in file)
                self.periods = int(stat["nr_periods"]), int(stat["nr_throttled"])
            if beside:
                self.neighbour_had = (processor_time(beside) - had) / (self.end - began)
        finally:
            if beside:
                beside.kill()
                beside.wait()
            if group:
                os.rmdir(group)
        if not re.search(r"verification *= *successful", out, re.IGNORECASE):
            raise Wrong("does not verify")
        # To the hundredth; the rate is known better.
        self.printed = float(re.search(r"Time in seconds *= *([0-9.]+)", out)[1])
        self.rate = float(re.search(r"Mop/s total *= *([0-9.]+)", out)[1])

    def change_mask(self, process, stops, phase, period):
        pause = period * (1 - phase)
        while not stops.wait(pause):
            cores = 3 - self.cores[-1][1]
            try:
                confine(process, set(list(CPUS)[:cores]))
            except (FileNotFoundError, ProcessLookupError):
                return
            self.cores.append((time.time(), cores))
            pause = period

    def allowed(self, seconds, one, two):
        """The time in which the cores that there were do the work that takes `one` and `two` with as many."""
        start, done = self.end - seconds, 0.0
        for (since, cores), (till, _) in zip(self.cores, self.cores[1:] + [(float("inf"), 0)]):
            since, takes = max(since, start), {1: one, 2: two}[cores]
            if till > since:
                if done + (till - since) / takes >= 1:
                    return since - start + (1 - done) * takes
                done += (till - since) / takes


def stay():
    os.sched_setaffinity(0, CPUS)


def processor_time(process):
    """Seconds that the process has used."""
    if process is None:
        return 0.0
    with open(f"/proc/{process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def spread(values):
    return f"{statistics.median(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("libraries", help="built from openmp; several builds are compared, separated by commas")
    arguments.add_argument("program", type=os.path.abspath)
    arguments.add_argument("--ranks", type=int, default=3)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--period", type=float, default=0.25, help="of the mask's changes, in seconds (0.25)")
    arguments.add_argument("--only", default=",".join(CONDITIONS), help="conditions, separated by commas")
    given = arguments.parse_args()
    conditions = given.only.split(",")
    if unknown := set(conditions) - set(CONDITIONS):
        arguments.error(f"--only: {', '.join(unknown)}; expected some of {', '.join(CONDITIONS)}")
    if not os.access(given.program, os.X_OK):
        arguments.error(f"{given.program}: cannot be run; expected a benchmark that ci/openmp.sh has built")
    for key, value, least in [("ranks", given.ranks, 1), ("rounds", given.rounds, 1), ("period", given.period, 0.001)]:
        if not value >= least:
            arguments.error(f"--{key} {value}: expected at least {least}")
    ranks = {"OMP_NUM_THREADS": str(given.ranks)}
    contestants = {}
    for library in map(os.path.abspath, given.libraries.split(",")):
        if not os.path.exists(library):
            arguments.error(f"{library}: no such file; expected a library that openmp was built to")
        name = os.path.basename(library).removesuffix(".so").removeprefix("libmanycore_")
        contestants[name] = {**ranks, "LD_PRELOAD": library}
        contestants[f"{name}, unheeding"] = {**contestants[name], "MANYCORE_OMP_HEED": "false"}
    contestants["libgomp"] = ranks

    if not CPUS <= os.sched_getaffinity(0):
        sys.exit("cores: expected CPUs 0 and 1 in this process's affinity mask")
    if "quota" in conditions:
        try:
            os.rmdir(quota_group())
        except OSError as problem:
            print(f"cores: no quota, as this may not make a control group: {problem}", file=sys.stderr)
            conditions.remove("quota")
    runs, wrong = {}, 0
    for number in range(given.rounds):
        plan = [(("both", f"libgomp-{threads}"), {"OMP_NUM_THREADS": str(threads)}) for threads in (1, 2)]
        plan += [((condition, by), contestants[by]) for condition in conditions for by in contestants]
        for (condition, by), variables in plan:
            try:
                run = Run(given.program, condition, variables, number / given.rounds, given.period)
                runs.setdefault((condition, by), []).append(run)
            except Wrong as problem:
                wrong += 1
                print(f"cores: {given.program}, {condition}, {by}: {problem}", file=sys.stderr)
    if len({("both", "libgomp-1"), ("both", "libgomp-2")} & runs.keys()) < 2:
        sys.exit(f"cores: {given.program}: no right run of libgomp's one thread, or of its two, to compare with")
    # Each run has printed time and rate; their product is the same, and the time's is the rounding.
    work = statistics.mean(run.printed * run.rate for group in runs.values() for run in group)
    seconds = {key: [work / run.rate for run in group] for key, group in runs.items()}
    one, two = (statistics.median(seconds["both", f"libgomp-{threads}"]) for threads in (1, 2))
    print(f"{'condition':<10} {'by':<20} {'seconds':<25} over what is allowed")
    for (condition, by), group in runs.items():
        took = seconds[condition, by]
        allowed = {
            "both": [two] * len(took),
            "quota": [1 / ((QUOTA - 1) / two + (2 - QUOTA) / one)] * len(took),
            "mask": [run.allowed(time, one, two) for run, time in zip(group, took)],
            "neighbour": [one] * len(took),
        }[condition]
        notes = []
        if condition == "quota":
            notes.append("periods {}, throttled {}".format(*map(sum, zip(*(run.periods for run in group)))))
        if condition == "neighbour":
            notes.append(f"the busy process had {statistics.median(run.neighbour_had for run in group):.2f} cores")
        print(f"{condition:<10} {by:<20} {spread(took):<25} {spread([a / b for a, b in zip(took, allowed)])} {'; '.join(notes)}")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
