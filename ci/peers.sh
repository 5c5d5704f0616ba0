#!/usr/bin/env bash
# The peers' workspace is outside ours: format, lint and its tests (every peer
# runs every index once). C and C++ peers that are not installed are skipped
# with a line; peers/setup.sh installs them. The programs of drop-in/ are another workspace: here
# they are formatted and linted, and checked where they are measured (`ci/long.sh programs`).
set -euo pipefail
cd "$(dirname "$0")/../peers"
# ForkUnion comes from crates.io and compiles its C++ with the crate.
features=()
command -v c++ >/dev/null || features=(--no-default-features)
cargo fmt --check
cargo clippy --quiet --all-targets "${features[@]}" -- -D warnings
cargo test --quiet "${features[@]}"
cd drop-in
cargo fmt --all --check
# Without dependents/, which takes minutes to build.
cargo clippy --quiet --all-targets -- -D warnings
