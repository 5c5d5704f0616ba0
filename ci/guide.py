#!/usr/bin/env python3
"""Compares the documents with the built command `manycore`. Needs python3.11, and no network; takes some 15 s of one core.

    ci/guide.py           all checks
    ci/guide.py --draw    writes the figures of check 3 anew

1. The commands in Markdown: subcommands, flags, studies, their settings and presets exist.
2. The guide's outputs: each `manycore study` above a block `text` is run. The block's lines must be lines of its
   output, in their order, except lines of three dots. The table of the sweep and hashes in `docs/results/house.txt`
   (`HASHES`) must be those of the runs.
3. The figures are what `manycore figure` draws from results (`figures` below).

MANYCORE names another binary than target/release/manycore.
"""

import csv
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from functools import lru_cache

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
MANYCORE = os.path.abspath(os.environ.get("MANYCORE", "target/release/manycore"))
# Studies in docs/results/house.txt that take few seconds; the others are remade by hand.
HASHES = ("barrier", "graph")
wrong = []


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


@lru_cache(maxsize=None)
def run(*args, cwd="."):
    """The output of `manycore`, or `None` and a fault if it fails."""
    done = subprocess.run([MANYCORE, *args], cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        wrong.append(f"manycore {' '.join(args)}: {done.stderr.strip().splitlines()[-1:]}")
        return None
    return done.stdout


def blocks(path):
    """The fenced blocks of a document: line number, language and lines."""
    block = None
    for number, line in enumerate(read(path).split("\n"), 1):
        if line.startswith("```"):
            if block:
                yield block
                block = None
            else:
                block = (number, line[3:], [])
        elif block:
            block[2].append(line)


# --- check 1: the commands parse ---------------------------------------------------------------------


def commands():
    """Place and words of each command: lines of blocks `sh`, code spans, and the spans that leave out `manycore`."""
    begins = re.compile(r"(?:(?:\./)?(?:target/release/)?manycore|cargo lab|cargo run --release --package manycore-lab --)\s")
    for path in subprocess.run(["git", "ls-files", "*.md"], capture_output=True, text=True).stdout.split():
        found = []
        for number, language, lines in blocks(path):
            if language == "sh":
                joined = "\n".join(lines).replace("\\\n", " ")
                found += [(number, line.strip()) for line in joined.split("\n")]
        for number, line in enumerate(read(path).split("\n"), 1):
            found += [(number, span) for span in re.findall(r"`([^`]+)`", line)]
        for number, text in found:
            text = re.sub(r"^study (?=[a-z])", "manycore study ", text)
            for part in re.split(r"&&|;", text):
                match = begins.match(part.strip() + " ")
                if not match or "…" in part or "alias " in part:
                    continue
                try:
                    words = shlex.split(part.strip()[match.end():], comments=True)
                except ValueError:
                    continue
                for end in ("|", ">", "2>&1"):
                    words = words[: words.index(end)] if end in words else words
                yield f"{path}:{number}", words


def keys_of(value, key=""):
    """The dotted keys of a machine's values and tables. `*` is any element of a list."""
    if key:
        yield key
    inner = value.items() if isinstance(value, dict) else [("*", one) for one in value] if isinstance(value, list) else []
    for part, one in inner:
        yield from keys_of(one, f"{key}.{part}" if key else part)


@lru_cache(maxsize=None)
def parts():
    """Subcommands, studies with their settings, presets, and the keys of machines' values and of their tables."""
    known = set(re.findall(r"^  ([a-z-]+) ", run("--help").split("Commands:")[1].split("Options:")[0], re.MULTILINE))
    settings, study = {}, None
    for line in run("study", "--help").split("\n"):
        if match := re.match(r"  ([a-z][a-z0-9-]+): ", line):
            study = settings.setdefault(match[1], set())
        elif study is not None and (match := re.match(r"    ([a-z][a-z0-9-]*) ", line)):
            study.add(match[1])
    presets = set(re.findall(r"^│ ([a-z][\w-]+) ", run("presets"), re.MULTILINE)) - {"preset"}
    machines = [tomllib.loads(run("presets", "--toml", preset)) for preset in presets]
    keys = {key for machine in machines for key in keys_of(machine) if key.split(".")[0] != "sources"}
    in_no_preset = re.search(r"const IN_NO_PRESET: .*? = \[(.*?)\];", read("simulator/chip/src/config/bounds.rs"))
    keys |= set(re.findall(r'"([\w.-]+)=', in_no_preset[1]))
    tables = {key.rpartition(".")[0] for key in keys} - {""}
    return known, settings, presets, keys - tables, tables


def setting_fault(flag, setting, study):
    """What is wrong with the value of `--set` or `--sweep`, or `None`."""
    _, settings, _, keys, tables = parts()
    key, equals, value = setting.partition("=")
    # A word in capitals stands for any key.
    if not equals or re.fullmatch("[A-Z]+", key):
        return None
    allowed = keys | (tables if value.startswith("{") else set()) | settings.get(study, set())
    allowed |= {"seed", "on"} if flag == "--sweep" else set()
    if key in allowed or re.sub(r"\.\d+(?=\.|$)", ".*", key) in allowed:
        return None
    return f"study {study} has no setting {key}" if study else f"a machine has no value {key}"


def fault(words):
    """What is wrong with a command's words, or `None`."""
    known, settings, presets, *_ = parts()
    words = [word.strip("[]") for word in words]
    if not words or words[0].startswith("-"):
        return None
    if words[0] not in known:
        return f"there is no command {words[0]}"
    name = words[:1]
    if name == ["model"] and len(words) > 1 and re.fullmatch("fit|predict|eval", words[1]):
        name = words[:2]
    texts = run(*name, "--help")
    flags = set(re.findall(r"(?<![\w-])--?[a-zA-Z][a-z-]*", texts))
    with_value = set(re.findall(r"(--[a-z-]+) <", texts))
    study = words[1] if name == ["study"] and len(words) > 1 else None
    if study and re.fullmatch("[a-z0-9-]+", study) and study not in settings:
        return f"there is no study {study}"
    rest = iter(words[len(name):])
    for word in rest:
        # What follows the program that `run` runs is the program's.
        if word == "--" or name == ["run"] and not word.startswith("-"):
            break
        if not word.startswith("-"):
            continue
        flag, equals, value = word.partition("=")
        if flag not in flags:
            return f"{' '.join(name)} has no flag {flag}"
        if not equals and flag in with_value:
            value = next(rest, "")
        if flag == "--on" and re.fullmatch("[a-z][a-z0-9-]+", value) and value not in presets | {"native"}:
            return f"there is no preset {value}"
        if flag in ("--set", "--sweep") and (what := setting_fault(flag, value, study)):
            return what
    return None


def check_commands():
    count = 0
    for place, words in commands():
        count += 1
        if what := fault(words):
            wrong.append(f"{place}: {what}")
    return f"{count} commands parse"


# --- check 2: outputs --------------------------------------------------------------------------------


def check_outputs(folder):
    lines = 0
    for path in sorted(glob.glob("docs/guide/*.md")):
        studies = []
        for number, language, texts in blocks(path):
            if language == "sh":
                studies = [line for line in texts if line.startswith("manycore study ")]
            elif language == "text" and studies:
                said = []
                for study in studies:
                    said += (run(*shlex.split(study, comments=True)[1:], cwd=folder) or "").split("\n")
                at = 0
                for line in texts:
                    if line in ("", "..."):
                        continue
                    lines += 1
                    if line not in said[at:]:
                        wrong.append(f"{path}:{number}: the output has no line {line!r}; it has\n  " + "\n  ".join(said[-9:]))
                        break
                    at = said.index(line, at) + 1
            if language != "sh":
                studies = []
    # The table of the sweep that the page has just run.
    page, waits = "docs/guide/figure.md", {}
    if os.path.exists(f"{folder}/sweep/barrier.sweep.csv"):
        for row in rows_of(f"{folder}/sweep/barrier.sweep.csv"):
            if (row["machine"], row["arrivals"]) == ("atac-64", "loop"):
                waits[row["sweep.optical.transport"], row["barrier"]] = f"{float(row['episode_median']):,.0f}"
    if not waits:
        wrong.append(f"{page}: its sweep was not run")
    for transport in {transport for transport, _ in waits}:
        cells = [transport, *(waits[transport, barrier] for barrier in ("channel", "counted", "dissemination"))]
        lines += 1
        if f"| {' | '.join(cells)} |" not in read(page):
            wrong.append(f"{page}: the table has no row {cells}")
    house = read("docs/results/house.txt")
    for study in HASHES:
        # The guide shows the first with this folder, so it runs once.
        out = "figure" if study == "barrier" else study
        said = run("study", study, "--quick", "--out", out, cwd=folder) or ""
        hashes = re.findall(r"hash of all simulations: (\w+)", said)
        if not hashes or not re.search(rf"^{hashes[0]}  {study}\.", house, re.MULTILINE):
            wrong.append(f"docs/results/house.txt: study {study} --quick has the hash {hashes}")
    return f"{lines} lines and {len(HASHES)} hashes are today's"


# --- check 3: figures --------------------------------------------------------------------------------


def rows_of(path):
    return csv.DictReader(line for line in read(path).split("\n") if line and not line.startswith("#"))


def write_rows(path, header, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(header)
        table.writerows(rows)


def figures(folder):
    """Each figure of the documents, and what `manycore figure` draws it from."""
    peers = "docs/results/peers.csv"
    yield "docs/results/peers.svg", [peers, "--figure", "width=270mm"]
    # rayon and manycore alone.
    rows = [row for row in rows_of(peers) if row["program"] == "fib" and row["peer"] in ("manycore", "rayon")]
    write_rows(f"{folder}/rayon.csv", rows[0].keys(), [row.values() for row in rows])
    yield "docs/guide/rayon.svg", [f"{folder}/rayon.csv"]
    # The cycles of the NAS programs of class S, a row for each cell.
    cells = [
        ["e5-2640x2", row["what"].split(",")[0] + ".S", 16, row["cores"], mode, match[0].replace(",", ""), "cycles"]
        for row in rows_of("docs/results/2026-11-25-guests-packing.csv")
        for mode in ("tr", "tp", "tp-pinned", "ours")
        if "class S" in row["what"] and (match := re.match(r"[\d,]+", row[mode] or ""))
    ]
    write_rows(f"{folder}/packing.csv", "machine,program,threads,cores,mode,time,unit".split(","), cells)
    yield "docs/guide/packing.svg", [f"{folder}/packing.csv"]
    # From the study's own figure, which the guide's first command writes.
    if run("study", "barrier", "--quick", "--out", "figure", cwd=folder):
        yield "docs/guide/barrier.panel-1.svg", [f"{folder}/figure/barrier.svg", "--figure", "panels=single"]


def check_figures(folder, draw):
    count = 0
    for path, args in figures(folder):
        count += 1
        run("figure", *args, "--out", f"{folder}/drawn")
        drawn = read(f"{folder}/drawn/{os.path.basename(path)}")
        if draw:
            with open(path, "w", encoding="utf-8") as file:
                file.write(drawn)
        elif not os.path.exists(path) or drawn != read(path):
            wrong.append(f"{path} is not what `manycore figure` draws: ci/guide.py --draw")
    return f"{count} figures are {'drawn' if draw else 'as drawn'}"


def main():
    if sys.argv[1:] not in ([], ["--draw"]):
        sys.exit(__doc__)
    said = []
    with tempfile.TemporaryDirectory() as folder:
        draws = "--draw" in sys.argv
        if not draws:
            said += [check_commands(), check_outputs(folder)]
        said.append(check_figures(folder, draws))
    for what in wrong:
        print(f"guide: {what}", file=sys.stderr)
    if wrong:
        sys.exit(f"guide: FAILED, {len(wrong)} faults")
    print("guide: " + ", ".join(said))


main()
