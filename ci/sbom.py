#!/usr/bin/env python3
"""A list of all that is in the binaries of some crates, as CycloneDX 1.5 has it, on standard output.

    ci/sbom.py manycore-openmp manycore-lab

The crates and all they are built of on Linux, without what only tests and build scripts need, with versions, licences and the
hashes of Cargo.lock. The same commit has the same list.
"""

import json
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


def main():
    names = sys.argv[1:]
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
