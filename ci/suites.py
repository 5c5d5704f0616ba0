#!/usr/bin/env python3
"""The compilers' own tests of their OpenMP libraries, from a folder that the user has, with the
compiler's library and with ours: a table by folder of how many tests pass.

    ci/suites.py LIBRARY gcc FOLDER      FOLDER is libgomp/testsuite of GCC's sources
    ci/suites.py LIBRARY llvm FOLDER     FOLDER is openmp/runtime/test of LLVM's sources

Tests that ask for a device, for another system or for parts of the library inside are left out. What
passes with the compiler's library and not with ours is named on standard error, and the exit status is 1.
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

GCC = ["libgomp.c", "libgomp.c-c++-common", "libgomp.c++", "libgomp.fortran"]
COMPILERS = {".c": "gcc", ".C": "g++", ".cc": "g++", ".f90": "gfortran", ".f": "gfortran", ".F90": "gfortran"}


class Test:
    """A source with what its comments say of how it is compiled and run."""

    def __init__(self, source):
        self.source = source
        self.flags, self.more, self.variables = [], [], {}
        self.arguments = []
        self.skipped = None
        self.must_fail = False

    def name(self, folder):
        return str(self.source.relative_to(folder))


def words(text):
    """What is in quotes or braces, or the first word."""
    text = text.strip()
    quoted = re.match(r'"((?:[^"\\]|\\.)*)"|\{([^{}]*)\}|(\S+)', text)
    return next((part for part in quoted.groups() if part is not None), "") if quoted else ""


def read_gcc(source):
    test = Test(source)
    text = source.read_text(errors="replace")
    for what, rest in re.findall(r"\{\s*dg-([\w-]+)\s+(.*?)\s*\}\s*(?:\*/|$|!)", text, re.MULTILINE):
        target = re.search(r"\{\s*target\s+(.*)\}", rest)
        applies = not target or not re.search(
            r"offload|nvptx|amdgcn|powerpc|sparc|ia32|alpha|aarch64|mips|hpux|darwin|! *x86", target.group(1)
        )
        if what == "do":
            if not rest.startswith("run"):
                test.skipped = "is not run"
            elif not applies:
                test.skipped = "another target"
        elif what in ("options", "additional-options") and applies:
            test.flags += words(rest).split()
        elif what == "additional-sources":
            test.more += [source.parent / name for name in words(rest).split()]
        elif what == "set-target-env-var":
            name, value = rest.split(None, 1)
            test.variables[name] = words(value)
        elif what.startswith("require-effective-target") and re.search(
            r"offload|nvptx|gcn|tls_runtime_x|alloca_x|ia32", rest
        ):
            test.skipped = "a device"
        elif what == "shouldfail":
            test.must_fail = True
    return test


def read_llvm(source):
    test = Test(source)
    text = source.read_text(errors="replace")
    runs = re.findall(r"RUN:\s*(.*)", text)
    if not runs:
        test.skipped = "no RUN line"
    if re.search(r"REQUIRES:.*(windows|ompt|hwloc|affinity|abt)", text) or "FileCheck" in " ".join(runs):
        test.skipped = "another system, or a check of text"
    for run in runs:
        for name, value in re.findall(r"\benv (\w+)=(\S+)", run):
            test.variables.setdefault(name, value)
        compiled = re.match(r"%libomp(?:-cxx)?-(?:compile(?:-and-run)?|cxx-compile(?:-and-run)?)(.*)", run)
        if compiled:
            test.flags += [
                flag for flag in re.split(r"&&|\|", compiled.group(1))[0].split() if flag[:2] in ("-D", "-f", "-l", "-s", "-O")
            ]
    return test


def run(test, program, preload, limit, ranks):
    environment = dict(os.environ, **test.variables)
    environment.setdefault("OMP_NUM_THREADS", str(ranks))
    if preload:
        environment["LD_PRELOAD"] = preload
    try:
        done = subprocess.run(
            [program, *test.arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit,
            cwd=os.path.dirname(program),
        )
    except subprocess.TimeoutExpired:
        return "hangs"
    if (done.returncode == 0) != test.must_fail:
        return None
    tail = (done.stdout + done.stderr)[-160:].decode(errors="replace").replace("\n", " | ")
    return f"status {done.returncode}: {tail}"


def check(test, options, work):
    """Whether it is compiled, and what is wrong with the compiler's library and with ours."""
    folder = tempfile.mkdtemp(dir=work)
    program = os.path.join(folder, "program")
    if options.suite == "gcc":
        compiler = [COMPILERS[test.source.suffix], "-O2", "-w", "-fopenmp"]
        if test.source.suffix.lower().startswith(".f"):
            compiler += ["-J", folder]
    else:
        compiler = ["clang++" if test.source.suffix == ".cpp" else "clang", "-O1", "-w", "-fopenmp"]
        compiler += [f"-I{options.folder}", f"-I{options.folder.parent}/src"]
        test.more += [options.folder / "omp_testsuite.c"] if (options.folder / "omp_testsuite.c").exists() else []
    command = [*compiler, *test.flags, "-o", program, str(test.source), *map(str, test.more), "-lm", "-latomic", "-pthread"]
    if test.source.suffix == ".cpp":
        command.append("-lstdc++")
    try:
        built = subprocess.run(command, capture_output=True, timeout=options.limit)
    except subprocess.TimeoutExpired:
        return test, False, [], []
    if built.returncode != 0 or not os.path.exists(program):
        return test, False, [], []
    both = []
    for library in (None, options.library):
        runs = [(ranks, run(test, program, library, options.limit, ranks)) for ranks in options.ranks]
        both.append([f"{ranks} ranks: {wrong}" for ranks, wrong in runs if wrong])
    return test, True, *both


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="libmanycore_gomp.so")
    parser.add_argument("suite", choices=["gcc", "llvm"])
    parser.add_argument("folder", type=Path, help="the folder with the tests")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 5], help="OMP_NUM_THREADS, each in turn")
    parser.add_argument("--limit", type=float, default=60, help="seconds; what runs for longer hangs")
    parser.add_argument("--only", default="", help="tests whose name has this in it")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    options.library = os.path.abspath(options.library)
    if not os.path.exists(options.library):
        sys.exit(f"suites: {options.library}: no such file; expected libmanycore_gomp.so")
    if options.suite == "gcc":
        folders = [options.folder / name for name in GCC]
        sources = [path for folder in folders for path in sorted(folder.glob("**/*")) if path.suffix in COMPILERS]
        read = read_gcc
    else:
        sources = [path for path in sorted(options.folder.glob("**/*")) if path.suffix in (".c", ".cpp")]
        read = read_llvm
    if not sources:
        sys.exit(f"suites: {options.folder}: no tests; expected the folder that --help names")
    tests = [read(path) for path in sources if options.only in str(path)]
    needed = {COMPILERS.get(test.source.suffix) for test in tests if not test.skipped} - {None}
    missing = sorted(name for name in needed if options.suite == "gcc" and not shutil.which(name))
    if missing:
        sys.exit(f"suites: these tests need {', '.join(missing)}; --only leaves others out")
    totals = {}
    bad = 0
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(2) as pool:
        running = [pool.submit(check, test, options, work) for test in tests if not test.skipped]
        for test in tests:
            key = test.name(options.folder).split(os.sep)[0]
            totals.setdefault(key, [0, 0, 0, 0, 0])[0] += 1
        for done in concurrent.futures.as_completed(running):
            test, built, theirs, ours = done.result()
            total = totals[test.name(options.folder).split(os.sep)[0]]
            total[1] += 1
            total[2] += built
            if not built:
                continue
            total[3] += not theirs
            total[4] += not ours
            if ours and not theirs:
                bad += 1
                print(f"suites: fails with ours only: {test.name(options.folder)}: {ours[0]}", file=sys.stderr, flush=True)
    print(f"{'folder':<24} {'tests':>6} {'run':>6} {'built':>6} {'theirs':>6} {'ours':>6}")
    for key, total in totals.items():
        print(f"{key:<24} " + " ".join(f"{number:>6}" for number in total))
    if not any(total[2] for total in totals.values()):
        sys.exit(f"suites: none of {len(tests)} tests was built; expected tests of the suite {options.suite}, and its compilers")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
