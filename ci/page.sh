#!/usr/bin/env bash
# Opens the report in a real browser, light and dark, as wide as a desk and as a phone.
#
#   ci/page.sh                        a new quick report
#   ci/page.sh out/report.html        this one
#   ci/page.sh out/report.html DIR    and pictures of it in DIR
#
# Needs Debian's chromium, and a font of Helvetica's widths, for which its figures are laid out
# (apt-get install chromium fonts-liberation python3).
set -euo pipefail
cd "$(dirname "$0")/.."
page=${1:-}
if [ -z "$page" ]; then
    out=$(mktemp -d)
    cargo run --release --quiet --package manycore-lab -- report --quick --out "$out" >/dev/null
    page=$out/report.html
fi
python3 ci/page.py "$page" ${2:+"$2"}
