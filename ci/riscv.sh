#!/usr/bin/env bash
# Proof of the RISC-V front end with programs of others, from folders that the user has; nothing
# is downloaded. MANYCORE names another command than the one that is built. Needs Debian's
# gcc-riscv64-linux-gnu; the programs also need qemu-user, g++- and gfortran-riscv64-linux-gnu.
#
#   ci/riscv.sh tests FOLDER     the user-level programs of riscv-tests (FOLDER has isa/), with and
#                                without timing
#   ci/riscv.sh programs         our small programs in ci/riscv/programs: the same output and exit
#                                status as under qemu-riscv64, linked statically and dynamically,
#                                without timing, on atac-64, on 4 cores with more threads, and
#                                handed over to the machine in the midst
#   ci/riscv.sh hashes           those of our programs that have threads: the same hash with address
#                                space randomisation on and off, on a busy host, in a debug build;
#                                another one with another seed
#   ci/riscv.sh errors           messages name the line of the source, if it has debug information
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:?expected tests, programs, hashes or errors}
shift
manycore=${MANYCORE:-}
if [ -z "$manycore" ]; then
    cargo build --release --quiet -p manycore-lab
    manycore=${CARGO_TARGET_DIR:-$PWD/target}/release/manycore
fi
cross=riscv64-linux-gnu
work=$(mktemp -d)
busy=()
trap 'rm -rf "$work"; [ ${#busy[@]} = 0 ] || kill "${busy[@]}"' EXIT
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

# Compiles a program of ours: its source, and how it is linked. No program for what is no source.
build() {
    local compile
    case $1 in
    *.c) compile="$cross-gcc" ;;
    *.cpp) compile="$cross-g++ -std=c++20" ;;
    *.f90) compile="$cross-gfortran -J $work" ;;
    *) return 1 ;;
    esac
    # shellcheck disable=SC2086
    $compile -O2 -pthread -fopenmp $2 "$1" -lm -o "$work/program"
}

programs() {
    local root=/usr/$cross
    for source in ci/riscv/programs/*; do
        name=$(basename "$source")
        for link in -static ""; do
            # Linked statically, gfortran's and OpenMP's libraries leave parts of the thread
            # library out, here and under qemu.
            [ "$name $link" != "parallel.f90 -static" ] || continue
            build "$source" "$link" || continue
            expected=0
            OMP_NUM_THREADS=6 qemu-riscv64 -L $root "$work/program" one two <"$source" \
                >"$work/expected" 2>"$work/expected.error" || expected=$?
            for on in --functional "--on atac-64" "--on atac-64 --set cores=4" \
                "--on atac-64 --fast-forward=50000" "--on dahu --fast-forward=1000000"; do
                count=$((count + 1))
                status=0
                # shellcheck disable=SC2086
                timeout 300 "$manycore" run --quiet $on --root $root --env OMP_NUM_THREADS=6 \
                    "$work/program" one two <"$source" >"$work/out" 2>"$work/out.error" || status=$?
                # A program that a signal ends has a line of ours that qemu does not write.
                sed -i '/^manycore: .*: killed by SIG/d' "$work/out.error"
                # Each by itself: which is written first depends on whether one is a file.
                if [ $status != $expected ] || ! cmp -s "$work/out" "$work/expected" ||
                    ! cmp -s "$work/out.error" "$work/expected.error"; then
                    echo "riscv: $name $link $on: status $status, expected $expected"
                    diff "$work/out" "$work/expected" | head -5 || true
                    diff "$work/out.error" "$work/expected.error" | head -5 || true
                    wrong=$((wrong + 1))
                fi
            done
        done
    done
}

# The hash of a run of the program by a command.
hash_of() {
    "$@" --env OMP_NUM_THREADS=6 "$work/program" one two 2>&1 >/dev/null <"$source" |
        sed -n 's/^hash *//p' || true
}

hashes() {
    cargo build --quiet -p manycore-riscv --example run
    local debug=${CARGO_TARGET_DIR:-$PWD/target}/debug/examples/run
    for name in threads.c locks.c atomics.c spinning.c omptasks.c tasks.cpp; do
        source=ci/riscv/programs/$name
        build "$source" -static
        count=$((count + 1))
        first=$(hash_of "$manycore" run --on dahu)
        for _ in 1 2 3 4; do
            sh -c 'while :; do :; done' &
            busy+=($!)
        done
        same=$(hash_of "$manycore" run --on dahu)
        kill "${busy[@]}"
        wait "${busy[@]}" 2>/dev/null || true
        busy=()
        same+=" $(hash_of setarch -R "$manycore" run --on dahu)"
        same+=" $(hash_of "$debug" --on dahu)"
        other=$(hash_of "$manycore" run --on dahu --seed 2)
        echo "riscv: $name: $first"
        if [ -z "$first" ] || [ "$same" != "$first $first $first" ] || [ "$other" = "$first" ]; then
            echo "riscv: $name: hashes $same, and $other with another seed"
            wrong=$((wrong + 1))
        fi
    done
}

# An error names the line of the source, in the program or where it called a library.
errors() {
    local root=/usr/$cross source=ci/riscv/unsupported.c line=0
    for at in $(grep -n '/\* here' $source | cut -d: -f1); do
        for link in "-static -gdwarf-4" "-static -gdwarf-5" -g; do
            count=$((count + 1))
            # shellcheck disable=SC2086
            $cross-gcc -O1 -fno-optimize-sibling-calls $link $source -o "$work/program"
            "$manycore" run --functional --root $root "$work/program" $line >"$work/out" 2>&1 || true
            if ! grep -q "unsupported.c:$at)" "$work/out"; then
                echo "riscv: $link: expected line $at in: $(head -c 600 "$work/out")"
                wrong=$((wrong + 1))
            fi
        done
        line=$((line + 1))
    done
    [ $line = 3 ] || { echo "riscv: $source has $line lines to find, expected 3"; exit 1; }
}

case $what in
tests | programs | hashes | errors) "$what" "$@" ;;
*)
    echo "riscv: unknown check $what; expected tests, programs, hashes or errors" >&2
    exit 2
    ;;
esac
[ $wrong = 0 ] || { echo "riscv: FAILED, $wrong of $count runs"; exit 1; }
echo "riscv: $count runs, all right"
