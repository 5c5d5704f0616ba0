#!/usr/bin/env bash
# What people read: names, words, results and plain English (`ci/docs.py`), and the guide as a book if mdbook is
# installed (`cargo install mdbook`). Takes some seconds, and needs no network.
set -euo pipefail
cd "$(dirname "$0")/.."
ci/docs.py
if command -v mdbook >/dev/null; then
    mdbook build docs/guide
    echo "docs: the guide is target/guide/index.html"
else
    echo 'docs: mdbook is not installed: the guide was not built'
fi
