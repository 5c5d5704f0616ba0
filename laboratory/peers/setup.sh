#!/bin/sh
# Installs the peers that come from Debian's packages: GNU OpenMP (with gcc),
# LLVM OpenMP (the newest the distribution has) and oneTBB. A peer that is
# missing is skipped, so running this is optional.
set -eu

as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo

$as_root apt-get update
llvm=
for version in 21 20 19 18 17 16; do
    if apt-cache show "libomp-$version-dev" >/dev/null 2>&1; then
        llvm="clang-$version libomp-$version-dev"
        break
    fi
done
# shellcheck disable=SC2086 # two package names
$as_root apt-get install -y g++ ${llvm:-clang libomp-dev} libtbb-dev

# Cargo does not see that a compiler was installed; this makes it look again.
touch "$(dirname "$0")/build.rs"
