#!/usr/bin/env bash
# Benchmarks of others on the RISC-V front end, compiled for rv64gc from a folder that the user has;
# nothing is downloaded. The folder has some of these, and what is not there is left out:
#
#   npb/     NPB 3.4, OpenMP in Fortran (CG/, FT/, BT/, MG/, common/, config/, sys/)
#   parsec/  PARSEC (pkgs/kernels/streamcluster/, pkgs/kernels/canneal/ with inputs/)
#   splash/  Splash-3 (codes/apps/barnes/, codes/pthread_macros/)
#
#   ci/riscv-guests.sh right FOLDER [GUESTS]     each guest with one thread: the output that qemu has;
#                        with more threads than one, and than cores: a right result
#   ci/riscv-guests.sh times FOLDER MACHINE THREADS [GUESTS]   cycles and hash of each guest on a
#                        machine with each of some numbers of threads, a table; million instructions
#                        a second of this host's user time
#   ci/riscv-guests.sh barriers FOLDER [CORES]   the loop of barriers and streamcluster of chapter 6
#                        of the ATAC thesis, on atac-64: a table for each
#   ci/riscv-guests.sh packing FOLDER [CORES] [GUESTS]   the packing poster's figure 1 on
#                        e5-2640x2: 16 threads on fewer cores, OpenMP guests, a table; with
#                        CSV=DIR/NAME.csv also as a file, and as a figure beside it, NAME.svg
#
# Lists are words in one argument. MANYCORE names another command than the one that is built, LIBRARY
# another libmanycore_gomp.so for riscv64, WORK a folder that keeps what is built. Needs Debian's
# gcc-, g++- and gfortran-riscv64-linux-gnu, qemu-user, and m4 for Splash-3.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD
what=${1:?expected right, times, barriers or packing}
folder=$(cd "${2:?expected the folder with the sources}" && pwd)
shift 2
cross=riscv64-linux-gnu
root=/usr/$cross
target=${CARGO_TARGET_DIR:-$here/target}
manycore=${MANYCORE:-}
if [ -z "$manycore" ]; then
    cargo build --release --quiet -p manycore-lab
    manycore=$target/release/manycore
fi
work=${WORK:-}
if [ -z "$work" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"
out=$work/run-$what
CSV=${CSV:-}
wrong=0
runs=0
# shellcheck source=ci/npb.sh
. ci/npb.sh
# shellcheck source=ci/riscv/guests/build.sh
. ci/riscv/guests/build.sh
# shellcheck source=ci/riscv/guests/run.sh
. ci/riscv/guests/run.sh

# With one thread the output is qemu's; with others it is right.
right() {
    local name threads on list=${1:-$guests}
    for name in $list; do
        make_guest "$name" || continue
        on_qemu "$name" 1 || { complain "$name under qemu: status $status"; continue; }
        answer "$name" >"$out.expected"
        check "$name" 1 --functional
        check "$name" 1 --on atac-64
        for threads in 3 16; do
            check "$name" $threads --on e5-2640x2
        done
        crowded "$name"
    done
    finish
}

# More threads than cores. A thread that waits at PARSEC's barrier goes round 35,000 times before it
# sleeps, while the one it waits for has no core: so streamcluster gets few points.
crowded() { # guest
    if [ "$1" = streamcluster ]; then
        local STREAM=${STREAM:-2 3 1 6 6 4}
        on_qemu "$1" 1 || { complain "$1 under qemu: status $status"; return; }
        answer "$1" >"$out.expected"
    fi
    check "$1" 5 --on atac-64 --set cores=4
}

check() { # guest threads flags
    local name=$1 threads=$2
    shift 2
    on_chip "$name" "$threads" "$@" || { complain "$name, $threads threads, $*: status $status"; return; }
    answer "$name" >"$out.found"
    if is_right "$name" "$threads"; then
        echo "guests: $name, $threads threads, $*: right, $instructions instructions, $cycles cycles, hash $hash"
    else
        complain "$name, $threads threads, $*: $(head -c 300 "$out.found")"
    fi
}

times() {
    local machine=${1:?expected a machine} counts=${2:?expected numbers of threads}
    local name threads list=${3:-$guests}
    row guest threads instructions cycles 'region, cycles' hash 'M/s'
    row --- --- --- --- --- --- ---
    for name in $list; do
        make_guest "$name" || continue
        for threads in $counts; do
            on_chip "$name" "$threads" --on "$machine" ||
                { complain "$name, $threads threads: status $status"; continue; }
            row "$name" "$threads" "$instructions" "$cycles" "$region" "$hash" \
                "$(awk -v all="$instructions" '{ printf "%.1f", all / $1 / 1e6 }' "$out/seconds")"
        done
    done
    finish
}

# Each barrier on chips of 2 to 64 cores, a thread a core; streamcluster's output is always the same.
barriers() {
    local counts=${1:-2 4 8 16 32 64} kind cores name
    for name in loop streamcluster; do
        echo "$name: cycles; the median time from the last entry to the last exit"
        # shellcheck disable=SC2086
        row cores $barrier_kinds hash
        # shellcheck disable=SC2046
        row --- $(for kind in $barrier_kinds; do echo ---; done) ---
        rm -f "$out.expected"
        for cores in $counts; do
            local cells=() hashes=
            for kind in $barrier_kinds; do
                build_barriers "$name" "$kind" || return
                if on_chip "$name-$kind" "$cores" --on atac-64 --set "cores=$cores"; then
                    cells+=("$region; $(sed -n 's/^exit latency //p' "$out/stdout")")
                    hashes="$hashes $hash"
                    [ "$name" = loop ] && continue
                    answer "$name" >"$out.found"
                    [ -e "$out.expected" ] || cp "$out.found" "$out.expected"
                    is_right "$name" "$cores" || complain "$kind, $cores cores: $(cat "$out.found")"
                else
                    cells+=("status $status")
                    wrong=$((wrong + 1))
                fi
            done
            row "$cores" "${cells[@]}" "${hashes# }"
        done
    done
    finish
}

# Threads are those of the poster; tr has as many as there are cores.
packing() {
    local counts=${1:-1 2 4 7 8 12 15 16} list=${2:-cg ft bt mg} name cores way threads
    local ways="tr tp tp-pinned ours" library=${LIBRARY:-}
    if [ -z "$library" ]; then
        CARGO_TARGET_RISCV64GC_UNKNOWN_LINUX_GNU_LINKER=$cross-gcc cargo build --release --quiet \
            -p manycore-openmp --target riscv64gc-unknown-linux-gnu
        library=$target/riscv64gc-unknown-linux-gnu/release/libmanycore_gomp.so
    fi
    [ -z "$CSV" ] || echo world,machine,program,class,threads,cores,mode,time,unit,hash >"$CSV"
    row guest cores way cycles 'over tr' hash
    row --- --- --- --- --- ---
    for name in $list; do
        make_guest "$name" || continue
        for cores in $counts; do
            local base=
            for way in $ways; do
                threads=16
                [ $way != tr ] || threads=$cores
                environment=()
                case $way in
                tp-pinned) environment=(--env OMP_PROC_BIND=true) ;;
                ours) environment=(--env "LD_PRELOAD=$library") ;;
                esac
                if on_chip "$name" "$threads" --on e5-2640x2 --cpus "$cores" "${environment[@]}"; then
                    answer "$name" >"$out.found"
                    local time=$region
                    is_right "$name" "$threads" || {
                        complain "$name, $way, $cores cores: wrong"
                        time=
                    }
                    measured "$name" "$cores" $way "$time" "$hash"
                    base=${base:-$region}
                    row "$name" "$cores" $way "$region" \
                        "$(awk "BEGIN { printf \"%.3f\", $region / $base }")" "$hash"
                else
                    complain "$name, $way, $cores cores: status $status"
                    measured "$name" "$cores" $way "" ""
                fi
            done
        done
    done
    [ -z "$CSV" ] || "$manycore" figure "$CSV" --out "$(dirname "$CSV")"
    finish
}

# A line of the table as a file; a wrong result has no time. Threads are those of the poster.
measured() { # guest cores way cycles hash
    [ -z "$CSV" ] || echo "simulated,e5-2640x2,$1,${CLASS:-S},16,$2,$3,$4,cycles,$5" >>"$CSV"
}

row() {
    printf '|'
    printf ' %s |' "$@"
    echo
}

# A guest without sources is left out; one that does not compile is wrong.
make_guest() {
    local status=0
    build_guest "$1" || status=$?
    [ $status = 0 ] || [ $status = 2 ] || complain "$1 does not compile"
    return $status
}

complain() {
    echo "guests: $*"
    wrong=$((wrong + 1))
}

finish() {
    [ $((runs + wrong)) -gt 0 ] || { echo "guests: no run; expected one of npb/, parsec/ and splash/ in $folder" >&2; exit 1; }
    [ $wrong = 0 ] || { echo "guests: FAILED, $wrong runs"; exit 1; }
    echo "guests: all right"
}

case $what in
right | times | barriers | packing) "$what" "$@" ;;
*)
    echo "guests: unknown check $what; expected right, times, barriers or packing" >&2
    exit 2
    ;;
esac
