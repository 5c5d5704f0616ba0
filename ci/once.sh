#!/usr/bin/env bash
# How much of the runtime a user's crate compiles again: the bytes of manycore's functions in the object
# files of the examples, built as a crate of their own. What depends on the world alone is compiled in
# `manycore`, once (runtime/manycore/src/pool/compiled_here.rs); what is left are the functions of the
# user's own closures. That is 0.5 to 7 kB an example; where a function is missing in that table, all that
# it calls comes along, 20 to 200 kB.
set -euo pipefail
cd "$(dirname "$0")/.."
most=12000
work=$(realpath -m "${CARGO_TARGET_DIR:-target}")/once
mkdir -p "$work/src/bin"
rm -f "$work"/src/bin/*
cp runtime/manycore/examples/*.rs "$work/src/bin"
rm "$work/src/bin/wasm.rs"
cat >"$work/Cargo.toml" <<EOF
[package]
name = "once"
version = "0.0.0"
edition = "2024"
[workspace]
[dependencies]
manycore = { path = "$PWD/runtime/manycore" }
EOF
export CARGO_TARGET_DIR=$work/target
failed=0
for source in "$work"/src/bin/*.rs; do
    name=$(basename "$source" .rs)
    cargo rustc --release --quiet --manifest-path "$work/Cargo.toml" --bin "$name" -- --emit "obj=$work/$name.o"
    sizes=$(nm --print-size --size-sort --radix=d --demangle "$work/$name.o" |
        awk '$3 ~ /[tTwW]/ && /manycore/')
    bytes=$(awk '{ sum += $2 } END { print sum + 0 }' <<<"$sizes")
    echo "once: $name: $bytes bytes of the runtime"
    if [ "$bytes" -gt $most ]; then
        printf 'once: expected at most %d; the largest are:\n%s\n' $most "$(tail -n 5 <<<"$sizes")" >&2
        failed=1
    fi
done
exit $failed
