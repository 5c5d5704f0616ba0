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
#   ci/riscv.sh processes ROOT   shells, make, Python, redis and memcached with clients, node and Java,
#                                each with its children: the output that it should have, with timing
#                                twice the same hash. ROOT has Debian 13's packages for riscv64, as
#                                the README of simulator/riscv says; what it lacks is left out
#   ci/riscv.sh errors           messages name the line of the source, if it has debug information
#   ci/riscv.sh exec             a thread starts another program in the place of its process of several
#                                threads, which qemu-riscv64 does not run
#   ci/riscv.sh speed [ROUNDS]   million instructions a second of user time, of 64 threads on atac-64
#                                and without timing: median, least and most of some rounds (5)
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:?expected tests, programs, hashes, processes, errors, exec or speed}
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

processes() {
    local root=${1:?expected a folder with packages of Debian for riscv64}
    root=$(realpath "$root")
    cp ci/riscv/processes/* "$work"
    command -v javac >/dev/null && javac --release 17 -d "$work" "$work/Pipes.java"
    local java=usr/lib/jvm/java-21-openjdk-riscv64/bin/java
    family shell usr/bin/dash shell.sh
    family shell usr/bin/bash shell.sh
    family make usr/bin/make -j3
    family children usr/bin/python3 children.py
    family redis usr/bin/dash redis.sh
    family memcached usr/bin/dash memcached.sh
    family node usr/bin/node node.js
    family java $java -XX:+UseSerialGC Pipes
}

# A program that makes others, each run in a folder of the same name.
family() { # expected program arguments
    local expected=$1 program=$2 on hash
    shift 2
    [ -e "$root/$program" ] || { echo "riscv: no $program in $root"; return; }
    : >"$work/hashes"
    for on in --functional "--on e5-2640x2" "--on e5-2640x2"; do
        count=$((count + 1))
        rm -rf "$work/folder"
        mkdir "$work/folder"
        cp "$work"/*.sh "$work"/*.py "$work"/*.js "$work/Makefile" "$work/folder"
        cp "$work"/*.class "$work/folder" 2>/dev/null || true
        # shellcheck disable=SC2086
        (cd "$work/folder" && timeout 600 "$manycore" run $on --root "$root" --env LC_ALL=C \
            --env PATH=/usr/bin:/usr/sbin --env HOME=/tmp "$root/$program" "$@" \
            >"$work/out" 2>"$work/out.error") || true
        if ! cmp -s "$work/out" "$work/$expected.expected"; then
            echo "riscv: $program $on:"
            diff "$work/out" "$work/$expected.expected" | head -5 || true
            tail -n 3 "$work/out.error"
            wrong=$((wrong + 1))
        fi
        sed -n 's/^hash *//p' "$work/out.error" >>"$work/hashes"
    done
    hash=$(sort -u "$work/hashes" | tr '\n' ' ')
    echo "riscv: $program $*: hash $hash"
    [ "$(wc -l <"$work/hashes") $(sort -u "$work/hashes" | wc -l)" = "2 1" ] || wrong=$((wrong + 1))
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

# Another program in the place of a process with several threads: output, status, twice the same hash.
exec_() {
    local root=/usr/$cross
    printf 'missing: No such file or directory\nreplaced with 2 arguments, the same process\n' \
        >"$work/expected"
    for link in -static ""; do
        # shellcheck disable=SC2086
        $cross-gcc -O2 -pthread $link ci/riscv/replacing.c -o "$work/program"
        for on in --functional "--on atac-64" "--on atac-64 --set cores=4" "--on dahu"; do
            count=$((count + 1))
            : >"$work/hashes"
            for _ in 1 2; do
                status=0
                # shellcheck disable=SC2086
                timeout 60 "$manycore" run $on --root $root "$work/program" >"$work/out" \
                    2>"$work/out.error" || status=$?
                sed -n 's/^hash *//p' "$work/out.error" >>"$work/hashes"
            done
            if [ $status != 7 ] || ! cmp -s "$work/out" "$work/expected" ||
                [ "$(sort -u "$work/hashes" | wc -l)" -gt 1 ]; then
                echo "riscv: replacing.c $link $on: status $status, expected 7"
                tail -n 3 "$work/out" "$work/out.error" "$work/hashes"
                wrong=$((wrong + 1))
            fi
        done
    done
}

# Each loop in turn, not all rounds of one at once: what else the host does then hits all of them.
speed() {
    local rounds=${1:-5} loop timed functional
    $cross-gcc -O2 -static -pthread simulator/riscv/examples/speed/speed.c -o "$work/program"
    for _ in $(seq "$rounds"); do
        while read -r loop timed functional; do
            rate "$loop timed" "$timed" --on atac-64
            rate "$loop functional" "$functional" --functional
        done <<<"$speeds"
    done
    echo "| loop | timed | without timing |"
    echo "|---|---|---|"
    while read -r loop _; do
        echo "| $loop | $(spread "$loop timed") | $(spread "$loop functional") |"
    done <<<"$speeds"
}

# Loops of examples/speed, and rounds for a second or two, timed and not.
speeds="integers 200 400
gathers 200 600
products 200 400
mutex 20000 40000
barrier 15000 60000
add 50000 400000
swap 1000 300000
spin 1500 100000"

# A run's instructions a second into a file of the same name, and its hash, which is always the same.
rate() { # name rounds flags
    local name=$1 turns=$2
    shift 2
    count=$((count + 1))
    if ! { TIMEFORMAT=%U && time "$manycore" run "$@" "$work/program" "${name% *}" 64 "$turns" \
        >/dev/null 2>"$work/out"; } 2>"$work/seconds"; then
        echo "riscv: $name: $(tail -n 1 "$work/out")"
        wrong=$((wrong + 1))
        return
    fi
    awk -v seconds="$(cat "$work/seconds")" '/^instructions/ { print $2 / seconds / 1e6 }' "$work/out" \
        >>"$work/$name"
    grep '^hash' "$work/out" >>"$work/$name hash" || true
    if [ "$(sort -u "$work/$name hash" | wc -l)" -gt 1 ]; then
        echo "riscv: $name: another hash"
        wrong=$((wrong + 1))
    fi
}

spread() { # name
    sort -g "$work/$1" | awk '{ rate[NR] = $1 }
        END { printf "%.0f (%.0f to %.0f)", rate[int((NR + 1) / 2)], rate[1], rate[NR] }'
}

case $what in
tests | programs | hashes | processes | errors | speed) "$what" "$@" ;;
exec) exec_ ;;
*)
    echo "riscv: unknown check $what; expected tests, programs, hashes, processes, errors, exec or speed" >&2
    exit 2
    ;;
esac
[ $what = speed ] || [ $((count + wrong)) -gt 0 ] || { echo "riscv: FAILED, no run; expected programs in $*" >&2; exit 1; }
[ $wrong = 0 ] || { echo "riscv: FAILED, $wrong of $count runs"; exit 1; }
echo "riscv: $count runs, all right"
