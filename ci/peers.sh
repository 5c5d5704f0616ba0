#!/usr/bin/env bash
# The peers' workspace is outside ours: format, lint and its tests (every peer
# runs every index once). C and C++ peers that are not installed are skipped
# with a line; peers/setup.sh installs them.
set -euo pipefail
cd "$(dirname "$0")/../peers"
cargo fmt --check
cargo clippy --quiet --all-targets -- -D warnings
cargo test --quiet
