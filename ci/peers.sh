#!/usr/bin/env bash
# The peers' workspace is outside ours: format, lint and its tests (every peer
# runs every index once). C and C++ peers that are not installed are skipped
# with a line; laboratory/peers/setup.sh installs them. The programs of drop-in/ are another workspace: here
# they are formatted and linted, and checked where they are measured (`ci/long.sh programs`).
#
#   ci/peers.sh             all of it
#   ci/peers.sh --lint      format and lint, of drop-in/ format alone
set -euo pipefail
case ${1-} in
'' | --lint) ;;
*) echo "peers: expected --lint or nothing; found $1" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/../laboratory/peers"
# ForkUnion comes from crates.io and compiles its C++ with the crate.
features=()
command -v c++ >/dev/null || features=(--no-default-features)
cargo fmt --check
cargo clippy --quiet --all-targets "${features[@]}" -- -D warnings
[ "${1-}" = --lint ] || cargo test --quiet "${features[@]}"
cd drop-in
cargo fmt --all --check
# Without dependents/, which takes minutes to build.
[ "${1-}" = --lint ] || cargo clippy --quiet --all-targets -- -D warnings
