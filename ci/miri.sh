#!/usr/bin/env bash
# Miri: the runtime's own tests on an interpreter that knows Rust's memory model
# and aliasing rules, with four seeds of its scheduler. Needs a nightly
# toolchain; installs its components.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! rustup toolchain list | grep -q nightly; then
    echo "miri: no nightly toolchain is installed; skipped"
    exit 0
fi
rustup component add --toolchain nightly --quiet miri rust-src
