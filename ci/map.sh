#!/usr/bin/env bash
# The map is true: the table of crates in ARCHITECTURE.md names each crate of the workspace
# once, with exactly the crates of the workspace that its Cargo.toml has; arrows point down
# (a crate depends on crates below it, but for its tests, and a folder of `manycore` or of `openmp` uses
# folders below it); and each folder or file that the map names by its path is there. The long checks' list, its
# description and the workflow that runs them name the same. Needs python3, and no network.
#
#   ci/map.sh [FILE]        another file than ARCHITECTURE.md: to see what the check catches
set -euo pipefail
cd "$(dirname "$0")/.."
ci/long.sh --list >/dev/null
cargo metadata --no-deps --offline --format-version 1 | python3 -c '
import json, os, re, sys

MAP = sys.argv[1]
ORDERED = {"runtime/manycore/src", "openmp/src"}
HEADER = ["crate", "what it is", "depends on", "in tests also on"]
wrong = []

def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]

def quoted(text):
    return re.findall(r"`([^`]+)`", text)

lines = open(MAP, encoding="utf-8").read().splitlines()
heads = [at for at, line in enumerate(lines) if cells(line) == HEADER]
if len(heads) != 1:
    head = "| " + " | ".join(HEADER) + " |"
    sys.exit(f"map: FAILED, {MAP} has {len(heads)} tables that begin with: {head}")
rows = {}
for line in lines[heads[0] + 2:]:
    if not line.startswith("|"):
        break
    row = cells(line)
    names = quoted(row[0])
    if len(row) != len(HEADER) or len(names) != 1:
        wrong.append(f"a row that cannot be read: {line}")
    elif names[0] in rows:
        wrong.append(f"{names[0]} has two rows")
    else:
        rows[names[0]] = (set(quoted(row[2])), set(quoted(row[3])))

packages = json.load(sys.stdin)["packages"]
crates = {package["name"] for package in packages}
below = list(rows)
for name in sorted(crates - set(rows)):
    wrong.append(f"{name} has no row")
for name in sorted(set(rows) - crates):
    wrong.append(f"{name} has a row and is no crate of the workspace")
for package in packages:
    name = package["name"]
    if name not in rows:
        continue
    # An optional dependency, one of a target only, and one of a build script count as well.
    real, tests = set(), set()
    for dependency in package["dependencies"]:
        if dependency["name"] in crates:
            (tests if dependency["kind"] == "dev" else real).add(dependency["name"])
    tests -= real
    for found, drawn, kind in zip((real, tests), rows[name], ("", " in its tests")):
        for other in sorted(found - drawn):
            wrong.append(f"{name} depends on {other}{kind}; the map does not say so")
        for other in sorted(drawn - found):
            wrong.append(f"the map has {name} depend on {other}{kind}; its Cargo.toml does not")
    for other in sorted(real & set(rows)):
        if below.index(other) <= below.index(name):
            wrong.append(f"{name} depends on {other}, whose row is not below its own")

for number, line in enumerate(lines, 1):
    for path in quoted(line):
        if re.fullmatch(r"(\.ci|ci|docs|runtime|openmp|simulator|laboratory)/[\w./-]*", path) and not os.path.exists(path):
            wrong.append(f"line {number}: there is no {path}")

# Folders of one crate, in the order of their rows, or of one row "layers from top to bottom": each uses those below
# only, but for tests.
folders = {src: [] for src in ORDERED}
for row in re.split(r"\n(?! {2})", "\n".join(lines)):
    row = " ".join(row.split())
    of_src = re.match(r"\* `((?:runtime|simulator|laboratory)/\w+/src|openmp/src)/(?:(\w+)/)?`([^:]*): (.*)$", row)
    if not of_src or of_src[1] not in ORDERED:
        continue
    if of_src[2]:
        folders[of_src[1]].append(of_src[2])
    elif of_src[3] == ", layers from top to bottom":
        folders[of_src[1]] += re.findall(r"`(\w+)/`", re.sub(r"\([^)]*\)", "", of_src[4]))
uses = 0
for src, order in sorted(folders.items()):
    if len(order) < 2:
        wrong.append(f"{src} has no order of its folders")
    for folder in sorted(entry.name for entry in os.scandir(src) if entry.is_dir() and entry.name not in order):
        wrong.append(f"{src}/{folder}/ has no place in the order of folders")
    for at, folder in enumerate(order):
        if not os.path.isdir(f"{src}/{folder}"):
            wrong.append(f"there is no {src}/{folder}/")
            continue
        for here, _, files in os.walk(f"{src}/{folder}"):
            for file in files:
                path = os.path.join(here, file)
                if not path.endswith(".rs") or re.search("checked|tests|conserving", path):
                    continue
                text = open(path, encoding="utf-8").read().split("#[cfg(test)]\nmod tests")[0]
                code = re.sub(r"//.*", "", text)
                used = set(re.findall(r"crate::(\w+)", code))
                for several in re.findall(r"crate::\{([^;]*);", code):
                    used.update(re.findall(r"(?:^|,)\s*(\w+)", several))
                for other in sorted(used & set(order[:at])):
                    wrong.append(f"{path} uses {src}/{other}/, whose row is not below its own")
                uses += 1

for what in wrong:
    print(f"map: {what}", file=sys.stderr)
if wrong:
    sys.exit(f"map: FAILED, {len(wrong)} differences between {MAP} and the workspace")
arrows = sum(len(real) for real, _ in rows.values())
print(f"map: {len(rows)} crates, {arrows} arrows, all down, as {MAP} says; folders likewise, in {uses} files")
' "${1:-ARCHITECTURE.md}"
