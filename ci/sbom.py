#!/usr/bin/env python3
"""A list of all that is in the binaries of some crates, as CycloneDX 1.5 has it, on standard output.

    ci/sbom.py manycore-openmp manycore-lab
    ci/sbom.py --notices manycore-lab    # instead of the list the licences' texts of all crates that are not ours

The crates and all they are built of on Linux, without what only tests and build scripts need, with versions, licences and the
hashes of Cargo.lock. The same commit has the same list.
"""

import json
import os
import re
import subprocess
import sys

TARGET = "x86_64-unknown-linux-gnu"


def reached(graph, roots):
    """The ids of the packages that are linked into the roots."""
    nodes = {node["id"]: node for node in graph["nodes"]}
    found, left = set(), list(roots)
    while left:
        package = left.pop()
        if package in found:
            continue
        found.add(package)
        for dependency in nodes[package]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                left.append(dependency["pkg"])
    return found, nodes


def texts(package):
    """The texts of its licence that are in the package. Where the user may choose, and MIT is there, that of MIT."""
    folder = os.path.dirname(package["manifest_path"])
    kinds = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")
    names = [name for name in sorted(os.listdir(folder)) if name.upper().startswith(kinds)]
    names = [name for name in names if os.path.isfile(os.path.join(folder, name))]
    chosen = [name for name in names if "MIT" in name.upper()]
    if chosen and re.search(r"\bOR\b|/", package["license"] or ""):
        names = chosen + [name for name in names if name.upper().startswith(("COPYRIGHT", "NOTICE"))]
    for name in names:
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            yield "\n".join(line.rstrip() for line in file.read().strip().splitlines())


def notices(packages):
    """Each text once, below the crates that have it."""
    owners = {}
    for package in packages:
        found = list(texts(package)) or ["The package has no text of its licence."]
        for text in found:
            owners.setdefault(text, []).append(f"{package['name']} {package['version']} ({package['license']})")
    print("Crates in these binaries that are not manycore's, with their licences. Where a licence may be chosen, MIT is.")
    print("Rust's standard library is in them, too: copyright The Rust Project contributors, MIT OR Apache-2.0.")
    for text, names in owners.items():
        print("\n" + "=" * 80 + "\n" + "\n".join(names) + "\n\n" + text)


def main():
    names = sys.argv[1:]
    asks_notices = names[:1] == ["--notices"]
    names = names[asks_notices:]
    if not names:
        sys.exit("sbom: expected names of crates")
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", TARGET]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    # By hand: Python 3.10 has no parser for this format.
    with open(metadata["workspace_root"] + "/Cargo.lock", encoding="utf-8") as file:
        entries = file.read().split("[[package]]")[1:]
    lock = [dict(re.findall(r'^(name|version|checksum) = "(.*)"$', entry, re.MULTILINE)) for entry in entries]
    sums = {(it["name"], it["version"]): it.get("checksum") for it in lock}
    packages = {package["id"]: package for package in metadata["packages"]}
    by_name = {packages[id]["name"]: id for id in metadata["workspace_members"]}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        sys.exit(f"sbom: {unknown[0]}: not a crate of this workspace; expected {', '.join(sorted(by_name))}")
    found, nodes = reached(metadata["resolve"], [by_name[name] for name in names])
    if asks_notices:
        others = (packages[id] for id in found if packages[id]["source"])
        notices(sorted(others, key=lambda package: (package["name"], package["version"])))
        return

    def reference(id):
        return f"pkg:cargo/{packages[id]['name']}@{packages[id]['version']}"

    def component(id):
        package = packages[id]
        licence = (package["license"] or "").replace("/", " OR ") if package["license"] else None
        entry = {
            "type": "library",
            "bom-ref": reference(id),
            "name": package["name"],
            "version": package["version"],
            "purl": reference(id),
        }
        if licence:
            entry["licenses"] = [{"expression": " ".join(licence.split())}]
        checksum = sums.get((package["name"], package["version"]))
        if checksum:
            entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        return entry

    order = sorted(found, key=reference)
    root = packages[by_name[names[0]]]
    print(json.dumps({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "manycore", "version": root["version"]}},
        "components": [component(id) for id in order],
        "dependencies": [
            {
                "ref": reference(id),
                "dependsOn": sorted(reference(it["pkg"]) for it in nodes[id]["deps"] if it["pkg"] in found),
            }
            for id in order
        ],
    }, indent=1))


main()
