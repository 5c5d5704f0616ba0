#!/usr/bin/env bash
# Links the static library to a `libgomp.so.1` with the versions of symbols that GCC's has, for
# LD_LIBRARY_PATH, or to link against with -L FOLDER -lgomp.
#
#   cargo build --release -p manycore-openmp
#   crates/openmp/link.sh target/release/libmanycore_gomp.a FOLDER
set -euo pipefail
archive=${1:?expected the archive libmanycore_gomp.a}
folder=${2:?expected the folder for libgomp.so.1}
here=$(cd "$(dirname "$0")" && pwd)
[ -f "$archive" ] || { echo "link: $archive: no such file; expected libmanycore_gomp.a" >&2; exit 2; }
mkdir -p "$folder"
# rustc gives the linker a version script of its own for a shared library, beside which another has
# no effect; so the C compiler links. `nodelete`: its threads go on when a program that has loaded it late
# closes it.
"${CC:-cc}" -shared -o "$folder/libgomp.so.1" -Wl,-soname,libgomp.so.1 \
    -Wl,--version-script="$here/libgomp.map" -Wl,--no-undefined -Wl,-z,relro,-z,now,-z,nodelete \
    -Wl,--whole-archive "$archive" -Wl,--no-whole-archive -Wl,--gc-sections \
    -lgcc_s -lutil -lrt -lpthread -lm -ldl -lc
ln -sf libgomp.so.1 "$folder/libgomp.so"
