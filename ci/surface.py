#!/usr/bin/env python3
"""Counts what a user of a crate meets: its public functions and types, parallel iterators apart.

It reads rustdoc's JSON, so it counts what has a page or a place on one: functions are free functions,
methods of types and methods that a trait declares; types are structs, enums, traits and aliases. What is
hidden, what other crates define, and implementations of traits are not counted.

    ci/surface.py [CRATE [MOST_FUNCTIONS MOST_TYPES]]     # manycore 100 40
"""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
APART = {"iter", "prelude"}


def documented(crate):
    """The crate's rustdoc JSON, which stable compilers write if they are asked so."""
    # Left out of it: what is hidden.
    command = ["cargo", "rustdoc", "--quiet", "--lib", "-p", crate, "--"]
    command += ["-Zunstable-options", "--output-format", "json"]
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "RUSTC_BOOTSTRAP": "1"})
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return json.loads((target / f"doc/{crate.replace('-', '_')}.json").read_text())


def surface(crate):
    """The names of its functions and of its types."""
    index = documented(crate)
    root, items = index["root"], index["index"]
    functions, types, seen = set(), set(), set()

    def of_type(name, inner):
        for block in inner.get("impls", []):
            block = items.get(str(block))
            if block and block["inner"]["impl"]["trait"] is None:
                for item in block["inner"]["impl"]["items"]:
                    item = items.get(str(item))
                    if item and item["visibility"] == "public" and "function" in item["inner"]:
                        functions.add(f"{name}::{item['name']}")

    def visit(id, path):
        item = items.get(str(id))
        if item is None or (id, path) in seen:
            return
        seen.add((id, path))
        kind, inner = next(iter(item["inner"].items()))
        name = item["name"]
        if kind == "use":
            if inner["id"] is not None:
                visit(inner["id"], path)
        elif kind == "module":
            if name not in APART:
                for child in inner["items"]:
                    visit(child, path + (name,))
        elif kind == "function":
            functions.add(name)
        elif kind in ("struct", "enum", "union", "type_alias"):
            types.add(name)
            of_type(name, inner)
        elif kind == "trait":
            types.add(name)
            for child in inner["items"]:
                child = items.get(str(child))
                if child and "function" in child["inner"]:
                    functions.add(f"{name}::{child['name']}")

    visit(root, ())
    return sorted(functions), sorted(types)


def main():
    crate, *most = sys.argv[1:] or ["manycore", "100", "40"]
    functions, types = surface(crate)
    if os.environ.get("LIST"):
        print(*functions, *types, sep="\n")
    print(f"surface: {crate}: {len(functions)} functions, {len(types)} types")
    if most and (len(functions) > int(most[0]) or len(types) > int(most[1])):
        sys.exit(f"surface: expected at most {most[0]} functions and {most[1]} types")


main()
