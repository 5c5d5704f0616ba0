"""The commands: they start a program with the library preloaded."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile

from . import library

USAGE = """\
usage: {name} [--check] {what} [ARGUMENT…]
       {name} --library | --help

Runs {what} with the OpenMP library of manycore instead of its own.

  --check    tells at the end whether the library took effect; if not, the exit status is 125,
             unless {what}'s own is another than 0
  --library  writes the library's path, for LD_PRELOAD
  --help     this text
"""

FAILED = 125


def fail(text):
    """Ends the command with a line."""
    print(f"manycore-omp: {text}", file=sys.stderr)
    sys.exit(FAILED)


def preloaded():
    """The environment for the program."""
    path = library()
    if not os.path.isfile(path):
        fail(f"{path}: not there; expected the library of this package")
    # The loader divides the list at these.
    if " " in path or ":" in path:
        fail(f"{path}: the path has a blank or a colon; expected a folder without them")
    before = os.environ.get("LD_PRELOAD")
    return dict(os.environ, LD_PRELOAD=f"{path}:{before}" if before else path)


def run(program, environment):
    """Runs the program, and returns its status. The terminal sends Ctrl-C to both, and the program decides what it means."""
    for key in (signal.SIGINT, signal.SIGQUIT):
        # A handler and not SIG_IGN, which the program would inherit. A signal that is ignored already stays ignored.
        if signal.getsignal(key) != signal.SIG_IGN:
            signal.signal(key, lambda *_: None)
    return subprocess.Popen(program, env=environment).wait()


def checked(program, environment):
    """Runs the program, tells whether the library took effect, and returns the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "check")
        status = run(program, dict(environment, MANYCORE_OMP_CHECK=file))
        lines = []
        if os.path.exists(file):
            with open(file, encoding="utf-8", errors="replace") as read:
                lines = [line.rstrip("\n").split("\t") for line in read]
    teams = sum(line[2] == "teams" for line in lines)
    if teams:
        text = f"took effect: teams of threads have run in {teams} of {len(lines)} processes"
    elif lines:
        text = f"loaded in {len(lines)} processes, but no team of more than one thread has begun in any"
    else:
        text = "no effect: not loaded, or the program ended without an exit; is it linked statically?"
    print(f"manycore-omp: {text}", file=sys.stderr)
    others = sorted({line[3] for line in lines if line[3]})
    if others:
        print(f"manycore-omp: loaded beside it: {' '.join(others)}", file=sys.stderr)
    # As a shell tells of a signal.
    status = 128 - status if status < 0 else status
    return status if status or teams else FAILED


def main(before=()):
    """The command's arguments are those of the process; `before` is what starts the program."""
    name, what = ("python -m manycore_openmp", "SCRIPT") if before else ("manycore-omp", "PROGRAM")
    usage = USAGE.format(name=name, what=what)
    words = sys.argv[1:]
    first = words[0] if words else ""
    if first in ("--help", "-h"):
        print(usage, end="")
        return 0
    if first == "--library":
        print(library())
        return 0
    check = first == "--check"
    if check or first == "--":
        words = words[1:]
        if check and words[:1] == ["--"]:
            words = words[1:]
    elif first.startswith("-") and not before:
        fail(f"{first}: unknown option; expected --check, --library or --help")
    if not words:
        print(usage, end="", file=sys.stderr)
        return FAILED
    program = [*before, *words]
    if not before and shutil.which(program[0]) is None:
        print(f"manycore-omp: {program[0]}: not found; expected a program", file=sys.stderr)
        return 127
    environment = preloaded()
    if check:
        return checked(program, environment)
    # What was written before is not to come twice, or late.
    sys.stdout.flush()
    os.execvpe(program[0], program, environment)
