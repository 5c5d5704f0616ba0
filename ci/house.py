#!/usr/bin/env python3
"""The tables of the house: lines, long files, circles of imports, public items, hashes of studies.

    ci/house.py                          what needs no compiler
    ci/house.py --public                 public items of the published crates too (rustdoc)
    ci/house.py --hashes REPORT [OLD]    of the folder of a report: each study's hash, and whether an older
                                         folder has the same

Lines are counted with comments and blank lines. Tests are what ci/circles.py leaves out: files and folders of
tests, and blocks under `#[cfg(test)]`; examples and benchmarks count with them.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMITS = {"manycore": ["100", "40"]}
TESTS = re.compile(r"(^|_)(tests?|checked|testing)(_|$)|^conserving$|^(examples|benches)$")
LONG = 500


def crates():
    """The folders with a manifest and a `src`, and workspaces of their own below them."""
    found = {path.parent for path in ROOT.glob("**/Cargo.toml") if "target" not in path.parts}
    return sorted(path for path in found if (path / "src").is_dir())


def test_lines(text):
    """How many lines stand under `#[cfg(test)]`, as rustfmt lays them out: to the brace in the same column."""
    lines, count, at = text.splitlines(), 0, 0
    while at < len(lines):
        begin = re.match(r"( *)#\[cfg\((test|all\(test.*)\)\]", lines[at])
        if not begin:
            at += 1
            continue
        end = at + 1
        while end < len(lines) and re.match(r" *(#\[|//)", lines[end]):
            end += 1
        if end < len(lines) and lines[end].rstrip().endswith("{"):
            while end < len(lines) and lines[end] != begin[1] + "}":
                end += 1
        count += end + 1 - at
        at = end + 1
    return count


def lines():
    total = [0, 0]
    long = []
    folders = crates()
    print("lines of Rust, and of these without tests")
    for crate in folders:
        own = [other for other in folders if other != crate and crate in other.parents]
        everything = product = 0
        for path in sorted(crate.rglob("*.rs")):
            if any(other in path.parents for other in own) or "target" in path.parts:
                continue
            text = path.read_text()
            length = len(text.splitlines())
            everything += length
            if length > LONG:
                long.append((length, path.relative_to(ROOT)))
            parts = path.relative_to(crate).with_suffix("").parts
            if not any(TESTS.search(part) for part in parts):
                product += length - test_lines(text)
        print(f"{everything:8,} {product:8,}  {crate.relative_to(ROOT)}")
        total = [total[0] + everything, total[1] + product]
    print(f"{total[0]:8,} {total[1]:8,}  all")
    print(f"\nfiles of more than {LONG} lines")
    for length, path in sorted(long, reverse=True):
        print(f"{length:8,}  {path}")


def circles():
    print("\ncircles of imports: files, arrows, files in each circle")
    sources = [crate / "src" for crate in crates()]
    said = subprocess.run(
        [ROOT / "ci/circles.py", *(path.relative_to(ROOT) for path in sources)],
        cwd=ROOT, capture_output=True, text=True,
    )
    print(*(line for line in said.stdout.splitlines() if not line.startswith(" ")), sep="\n")


def public():
    print("\npublic items, without parallel iterators")
    for folder in crates():
        manifest = (folder / "Cargo.toml").read_text()
        if not re.search(r"^publish = false$", manifest, re.MULTILINE):
            crate = re.search(r'^name = "(.*)"$', manifest, re.MULTILINE)[1]
            # Of some crates a limit is kept.
            subprocess.run([ROOT / "ci/surface.py", crate, *LIMITS.get(crate, [])], cwd=ROOT, check=True)


def hashes(report, old):
    print("hashes of studies" + (": the same in both, or the older one" if old else ""))
    for path in sorted(Path(report).glob("*.*.meta.json")):
        study = json.loads(path.read_text())
        if not study.get("hash"):
            continue
        line = f"{study['hash']}  {path.name.removesuffix('.meta.json')}, seed {study.get('seed')}"
        if old:
            other = Path(old) / path.name
            before = json.loads(other.read_text())["hash"] if other.exists() else "none"
            line += "  the same" if before == study["hash"] else f"  {before}"
        print(line)


def main():
    match sys.argv[1:]:
        case []:
            lines()
            circles()
        case ["--public"]:
            lines()
            circles()
            public()
        case ["--hashes", report, *old] if len(old) < 2:
            hashes(report, *(old or [None]))
        case other:
            sys.exit(f"house: expected nothing, --public or --hashes REPORT [OLD]; found {' '.join(other)}")


main()
