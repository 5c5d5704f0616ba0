#!/usr/bin/env bash
# Proof of the RISC-V front end with programs of others, from folders that the user has; nothing
# is downloaded. MANYCORE names another command than the one that is built. Needs Debian's
# gcc-riscv64-linux-gnu; the programs also need qemu-user, g++- and gfortran-riscv64-linux-gnu.
#
#   ci/riscv.sh tests FOLDER     the user-level programs of riscv-tests (FOLDER has isa/), with and
#                                without timing
#   ci/riscv.sh programs         our small programs in ci/riscv/programs: the same output and exit
#                                status as under qemu-riscv64, linked statically and dynamically,
#                                without timing, on atac-64, and on 4 cores with more threads
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:?expected tests or programs}
shift
manycore=${MANYCORE:-}
if [ -z "$manycore" ]; then
    cargo build --release --quiet -p manycore-lab
    manycore=${CARGO_TARGET_DIR:-$PWD/target}/release/manycore
fi
cross=riscv64-linux-gnu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0
count=0

tests() {
    local folder=${1:?expected the folder of riscv-tests}
    for suite in rv64ui rv64um rv64ua rv64uf rv64ud rv64uc rv64uzba rv64uzbb; do
        for source in "$folder/isa/$suite"/*.S; do
            name=$suite-$(basename "$source" .S)
            # One segment with all rights, for code that writes code; no relaxation, since the
            # tests keep their own number in gp.
            $cross-gcc -march=rv64gc_zba_zbb -mabi=lp64d -static -nostdlib -nostartfiles \
                -Wl,-N -Wl,--no-relax -Wl,--no-warn-rwx-segments \
                -Ici/riscv -I"$folder/isa/macros/scalar" "$source" -o "$work/$name" ||
                { echo "riscv: $name does not compile"; wrong=$((wrong + 1)); continue; }
            for on in --functional "--on atac-64"; do
                count=$((count + 1))
                status=0
                # shellcheck disable=SC2086
                timeout 60 "$manycore" run --quiet $on "$work/$name" >"$work/out" 2>&1 || status=$?
                if [ $status != 0 ]; then
                    echo "riscv: $name $on: status $status: $(head -c 300 "$work/out")"
                    wrong=$((wrong + 1))
                fi
            done
        done
    done
}

programs() {
    local root=/usr/$cross
    for source in ci/riscv/programs/*; do
        name=$(basename "$source")
        case $name in
        *.c) compile="$cross-gcc" ;;
        *.cpp) compile="$cross-g++" ;;
        *.f90) compile="$cross-gfortran" ;;
        *) continue ;;
        esac
        for link in -static ""; do
            # Linked statically, gfortran's and OpenMP's libraries leave parts of the thread
            # library out, here and under qemu.
            [ "$name $link" != "parallel.f90 -static" ] || continue
            # shellcheck disable=SC2086
            $compile -O2 -pthread -fopenmp $link "$source" -lm -o "$work/program"
            expected=0
            OMP_NUM_THREADS=6 qemu-riscv64 -L $root "$work/program" one two <"$source" \
                >"$work/expected" 2>&1 || expected=$?
            for on in --functional "--on atac-64" "--on atac-64 --set cores=4"; do
                count=$((count + 1))
                status=0
                # shellcheck disable=SC2086
                timeout 300 "$manycore" run --quiet $on --root $root --env OMP_NUM_THREADS=6 \
                    "$work/program" one two <"$source" >"$work/out" 2>&1 || status=$?
                if [ $status != $expected ] || ! cmp -s "$work/out" "$work/expected"; then
                    echo "riscv: $name $link $on: status $status, expected $expected"
                    diff "$work/out" "$work/expected" | head -5 || true
                    wrong=$((wrong + 1))
                fi
            done
        done
    done
}

case $what in
tests | programs) "$what" "$@" ;;
*)
    echo "riscv: unknown check $what; expected tests or programs" >&2
    exit 2
    ;;
esac
[ $wrong = 0 ] || { echo "riscv: FAILED, $wrong of $count runs"; exit 1; }
echo "riscv: $count runs, all right"
