#!/usr/bin/env bash
# How the guests are compiled; for ci/riscv-guests.sh, which sources it.
#
# What is linked beside their own sources, and why, stands in this folder: a region of interest
# (hooks.c, regions.m4), Barnes's result (barnes_check.c), canneal's atomic operations.

guests="cg ft bt mg streamcluster canneal barnes"
barrier_kinds="pthread sense channel counting"
include=$here/simulator/riscv/include
parts=$here/ci/riscv/guests
examples=$here/simulator/riscv/examples/barriers
parsec="-pthread -DENABLE_THREADS -DENABLE_PARSEC_HOOKS -I$include -I$parts"

# Makes $work/GUEST/program. Status 2, and says so, if the folder has no sources of it.
build_guest() {
    local name=$1 dir=$work/$1
    [ ! -x "$dir/program" ] || return 0
    mkdir -p "$dir"
    case $name in
    cg | ft | bt | mg)
        has npb "npb/${name^^}" || return 2
        $cross-gcc -O2 -fPIC -I"$include" -c "$parts/hooks.c" -o "$work/hooks.o"
        npb_build "$folder/npb" "$name" "${CLASS:-S}" "$dir" $cross- "$work/hooks.o"
        ;;
    streamcluster) compile_streamcluster "$dir" "" "$(kernel streamcluster)/parsec_barrier.cpp" ;;
    canneal)
        local source
        source=$(kernel canneal)
        has canneal "${source#"$folder"/}" || return 2
        tar xf "$folder/parsec/pkgs/kernels/canneal/inputs/input_simdev.tar" -C "$dir"
        tar xf "$folder/parsec/pkgs/kernels/canneal/inputs/input_test.tar" -C "$dir"
        # A function of main.cpp forgets to return, which optimised code does not survive.
        local flags="-w $parsec -include $parts/canneal_atomic.h"
        # shellcheck disable=SC2086,SC2046
        $cross-g++ -O0 $flags -c "$source/main.cpp" -o "$dir/main.o" &&
            $cross-g++ -O2 $flags $(ls "$source"/*.cpp | grep -v /main.cpp) "$dir/main.o" \
                -o "$dir/program"
        ;;
    barnes)
        local source=$folder/splash/codes/apps/barnes file
        has barnes splash/codes/apps/barnes || return 2
        for file in "$source"/*.in; do
            m4 -Ulen -Uindex "$folder/splash/codes/pthread_macros/pthread.m4.stougie" \
                "$parts/regions.m4" "$file" >"$dir/$(basename "$file" .in)"
        done
        $cross-gcc -O2 -w -pthread -std=gnu11 -fno-strict-aliasing -I"$dir" -I"$include" \
            "$dir"/*.c "$parts/barnes_check.c" "$parts/hooks.c" -lm -o "$dir/program"
        ;;
    *)
        echo "guests: unknown guest $name; expected some of $guests" >&2
        exit 2
        ;;
    esac
}

# Makes $work/PROGRAM-KIND/program: the loop of barriers, or streamcluster with such barriers.
build_barriers() {
    local name=$1 kind=$2 dir=$work/$1-$2
    [ ! -x "$dir/program" ] || return 0
    mkdir -p "$dir"
    if [ "$name" = loop ]; then
        $cross-gcc -O2 -pthread -static -I"$include" -DBARRIER_"${kind^^}" "$examples/loop.c" \
            -o "$dir/program"
    else
        # The name of PARSEC's own header is taken, so that the one of these barriers counts.
        compile_streamcluster "$dir" \
            "-D__PARSEC_BARRIER_H_ -DBARRIER_${kind^^} -include $examples/barrier.h"
    fi
}

compile_streamcluster() { # directory flags more sources
    local dir=$1 flags=$2 source
    source=$(kernel streamcluster)
    shift 2
    has streamcluster "${source#"$folder"/}" || return 2
    # shellcheck disable=SC2086
    $cross-g++ -O2 -w $parsec $flags "$source/streamcluster.cpp" "$@" \
        -o "$dir/program"
}

kernel() { echo "$folder/parsec/pkgs/kernels/$1/src"; }

has() { # guest path
    [ -d "$folder/$2" ] || { echo "guests: $1 is left out: no $folder/$2"; return 1; }
}
