#!/usr/bin/env bash
# Is each crate that is not `publish = false` ready for crates.io? Lists what stands in the
# way, then packs all of them together as cargo would upload them, so that one may depend on
# another that is not published yet. Uploads nothing.
#
#   ci/publish.sh              packs, and asks the registry whether it would take them
#   ci/publish.sh --verify     compiles each package as its users get it, too: minutes
#   ci/publish.sh --offline    packs only, without network
#
# Needs python3. Changes that are not committed are packed as well.
#
# Cargo leaves out of a package what its tests depend on by path alone. So `cargo test` does not compile in an unpacked
# package; the tests run in this repository.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never
verify=(--no-verify)
pack=(publish --dry-run)
for argument in "$@"; do
    case $argument in
    --verify) verify=() ;;
    --offline) pack=(package --offline) ;;
    *) echo "publish: expected --verify or --offline; found $argument" >&2; exit 2 ;;
    esac
done

metadata=$(cargo metadata --no-deps --offline --format-version 1)
public=$(python3 -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] != []:
        print(package["name"])
' <<<"$metadata")

# What the packages hold, a line a file: "CRATE FILE".
lists=$(for crate in $public; do
    cargo package --list --allow-dirty --offline -p "$crate" | sed "s/^/$crate /"
done)

ready=true
python3 -c '
import json, os, re, subprocess, sys

metadata, lists = json.loads(sys.argv[1]), sys.argv[2].splitlines()
packages = {package["name"]: package for package in metadata["packages"]}
public = {name for name, package in packages.items() if package["publish"] != []}
packed = {}
for line in lists:
    name, _, file = line.partition(" ")
    packed.setdefault(name, set()).add(file)

answers = {}
def answers_at(url):
    """Whether a repository is there."""
    if url not in answers:
        environment = dict(os.environ, GIT_TERMINAL_PROMPT="0", GIT_ASKPASS="true")
        command = ["git", "ls-remote", "--exit-code", url, "HEAD"]
        try:
            done = subprocess.run(command, env=environment, capture_output=True, timeout=30)
            answers[url] = done.returncode == 0
        except subprocess.TimeoutExpired:
            answers[url] = False
    return answers[url]

def obstacles(name):
    package, files = packages[name], packed.get(name, set())
    for key in ("description", "license", "readme", "rust_version"):
        if not package[key]:
            yield "no " + key.replace("_", "-")
    for key in ("keywords", "categories"):
        if not 1 <= len(package[key]) <= 5:
            yield f"{len(package[key])} {key}; one to five are wanted"
    for word in package["keywords"]:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_+-]{,19}", word):
            yield f"crates.io refuses the keyword {word}"
    if not ((package["metadata"] or {}).get("docs") or {}).get("rs"):
        yield "no [package.metadata.docs.rs]"
    if package["repository"] and not answers_at(package["repository"]):
        yield "no repository answers at " + package["repository"]
    for file in ("LICENSE-APACHE", "LICENSE-MIT"):
        if file not in files:
            yield f"no {file} in the package (a link to ../../{file} will do)"
    for dependency in package["dependencies"]:
        other, tests = dependency["name"], dependency["kind"] == "dev"
        if other not in packages:
            continue
        versioned = dependency["req"] != "*"
        if not tests and other not in public:
            yield f"depends on {other}, which is not published"
        if not tests and not versioned:
            yield f"depends on {other} by its path alone; give it a version, too"
        if tests and versioned:
            yield f"its tests depend on {other} with a version, so {other} would have to be there first; leave the version out"

number = 0
for name in sorted(public):
    found = list(obstacles(name))
    number += len(found)
    dependencies = packages[name]["dependencies"]
    here = ", ".join(sorted({it["name"] for it in dependencies if it["kind"] == "dev" and it["name"] in packages}))
    if here:
        print(f"publish: {name}: (its tests run in this repository only: they need {here})")
    for what in found or ["nothing in the way"]:
        print(f"publish: {name}: {what}")
    if not packages[name]["repository"]:
        print(f"publish: {name}: (names no repository: right as long as none is public)")
private = ", ".join(sorted(set(packages) - public))
print(f"publish: not published: {private}")
sys.exit(number > 0)
' "$metadata" "$lists" || ready=false

selected=()
for crate in $public; do selected+=(-p "$crate"); done
# --allow-dirty: what is checked is the tree as it is, committed or not.
cargo "${pack[@]}" "${verify[@]}" --allow-dirty "${selected[@]}"
if ! $ready; then
    echo "publish: FAILED, see above what stands in the way" >&2
    exit 1
fi
echo "publish: ready"
