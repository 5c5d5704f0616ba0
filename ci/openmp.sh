#!/usr/bin/env bash
# Programs of others on the OpenMP library, from folders that the user has; nothing is downloaded.
#
#   ci/openmp.sh npb FOLDER [CLASSES] [RANKS] [ROUNDS]   the NAS Parallel Benchmarks 3.4, OpenMP in
#                        Fortran: each is built by gfortran, run, and asked whether it verifies
#   ci/openmp.sh verify FOLDER [CLASSES] [RANKS] [ROUNDS] [NAMES]   the same with ours alone, many times: on
#                        one core and on all, with cuts and without, as a table of how many runs verify
#   ci/openmp.sh vv FOLDER [RANKS]    the OpenMP Validation & Verification suite's C tests, with
#                        GCC's own library and with ours: a table by version of passes; CC=clang builds
#                        them by clang, and runs them with LLVM's library and with ours
#   ci/openmp.sh packages [RANKS]     Debian's OpenBLAS, FFTW, ImageMagick and GROMACS: the same
#                        results as with GCC's library (apt-get install libopenblas-openmp-dev
#                        libfftw3-dev imagemagick gromacs)
#   ci/openmp.sh costs [RANKS] [ROUNDS] [NAMES]   ns for each construct with GCC's library and
#                        with ours, medians of rounds in turn
#   ci/openmp.sh intervals [MICROSECONDS] [RANKS] [ROUNDS]   time of intervals between barriers
#                        over the ideal, on both libraries (and LLVM's, if clang is there), with cuts and
#                        without, in turn; run on two cores
#   ci/openmp.sh packed FOLDER [PROGRAMS] [RANKS] [ROUNDS]   NAS benchmarks (cg.A ft.A bt.A) with more
#                        ranks than cores on ours, over GCC's library with a thread for each core: the
#                        seconds that the program tells, medians of rounds in turn
#   ci/openmp.sh cores FOLDER [PROGRAMS] [RANKS] [ROUNDS]   NAS benchmarks (cg.A bt.W) with both cores,
#                        with a quota of 1.5, with a mask that goes from two cores to one and back, and beside a
#                        busy process; on both libraries, in turn: seconds, and these over what the cores
#                        allow (ci/cores.py; LIBRARY may name several builds, separated by commas)
#   ci/openmp.sh stress [SECONDS] [RANKS]   ranks that are cut at any instruction keep what is
#                        theirs; ten minutes for each number of ranks if nothing is said
#   ci/openmp.sh emulated [RANKS]   the tests' programs on 64-bit Arm and RISC-V, emulated by
#                        qemu-user: the same output as with these machines' libgomp (apt-get install
#                        gcc-{aarch64,riscv64}-linux-gnu libgomp1-{arm64,riscv64}-cross qemu-user)
#
# LIBRARY names another library than the one that is built; a program that runs for longer than LIMIT
# seconds (60) counts as hanging. Needs gcc, and gfortran for npb.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD
what=${1:?expected npb, verify, vv, packages, costs, intervals, packed, cores, stress or emulated}
shift
limit=${LIMIT:-60}
target=${CARGO_TARGET_DIR:-$here/target}/release
if [ -z "${LIBRARY:-}" ] && [ "$what" != emulated ]; then
    cargo build --release --quiet -p manycore-openmp
    LIBRARY=$target/libmanycore_gomp.so
fi
work=${WORK:-$(mktemp -d)}
mkdir -p "$work"

# shellcheck source=ci/npb.sh
. ci/npb.sh

# Fails, with what was expected, if the number of things that were there is 0.
ran() { # number expected
    [ "$1" -gt 0 ] || { echo "openmp: nothing was run; expected $2" >&2; return 1; }
}

build() { npb_build "$folder" "$1" "$2" "$work/$1.$2"; } # benchmark class

npb() {
    local classes=${1:-S W} ranks=${2:-1 2 3 5 8 16} rounds=${3:-1} failed=0
    printf '%-6s %5s %8s %8s %8s %8s\n' program ranks runs verified 'ours s' 'gcc s'
    for name in bt cg ep ft is lu mg sp; do
        for class in $classes; do
            build "$name" "$class" || { failed=1; continue; }
            for number in $ranks; do
                local good=0 ours=0 theirs=0
                for ((round = 0; round < rounds; round++)); do
                    out=$(cd "$work/$name.$class" && OMP_NUM_THREADS=$number LD_PRELOAD=$LIBRARY \
                        timeout "$limit" ./program 2>&1 || true)
                    is_verified <<<"$out" && good=$((good + 1))
                    seconds=$(sed -n 's/.*Time in seconds *= *//p' <<<"$out")
                    ours="$ours + ${seconds:-0}"
                    out=$(cd "$work/$name.$class" && OMP_NUM_THREADS=$number \
                        timeout "$limit" ./program 2>&1 || true)
                    seconds=$(sed -n 's/.*Time in seconds *= *//p' <<<"$out")
                    theirs="$theirs + ${seconds:-0}"
                done
                [ $good = "$rounds" ] || failed=1
                printf '%-6s %5s %8s %8s %8.3f %8.3f\n' "$name.$class" "$number" "$rounds" $good \
                    "$(awk "BEGIN { print ($ours) / $rounds }")" \
                    "$(awk "BEGIN { print ($theirs) / $rounds }")"
            done
        done
    done
    return $failed
}

# Whether the output says that the result is right: "Verification = SUCCESSFUL", and MG and EP in other columns.
is_verified() { grep -Eqi 'verification *= *successful'; }

verify() {
    local classes=${1:-S W} ranks=${2:-1 2 3 5 16} rounds=${3:-20} name class number cores cuts round out
    local names=${4:-bt cg ep ft is lu mg sp}
    : >"$work/runs"
    for ((round = 0; round < rounds; round++)); do
        for class in $classes; do
            for name in $names; do
                [ -x "$work/$name.$class/program" ] || build "$name" "$class"
                for number in $ranks; do
                    for cores in 0 0-$(($(nproc --all) - 1)); do
                        for cuts in true false; do
                            # Its ranks spin on words of memory, and nobody makes them leave.
                            [ $name.$cuts != lu.false ] || continue
                            out=$(cd "$work/$name.$class" && OMP_NUM_THREADS=$number \
                                MANYCORE_OMP_CUTS=$cuts LD_PRELOAD=$LIBRARY \
                                timeout "$limit" taskset -c "$cores" ./program 2>&1 || true)
                            printf '%s %s %s %s %s %s\n' "$name.$class" "$number" "$cores" $cuts \
                                "$(is_verified <<<"$out" && echo 1 || echo 0)" \
                                "$(sed -n 's/.*Time in seconds *= *//p' <<<"$out")" >>"$work/runs"
                        done
                    done
                done
            done
        done
    done
    awk '
        { key = sprintf("%-6s %5s %5s %-5s", $1, $2, $3, $4) }
        !(key in runs) { order[++count] = key }
        { runs[key]++; verified[key] += $5; if ($5) { seconds[key] += $6; if ($6 > most[key]) most[key] = $6 } }
        END {
            print "program ranks cores cuts   runs verified  mean s  most s"
            for (k = 1; k <= count; k++) {
                key = order[k]
                failed += runs[key] - verified[key]
                printf "%s %5d %8d %7.2f %7.2f\n", key, runs[key], verified[key],
                    verified[key] ? seconds[key] / verified[key] : 0, most[key]
            }
            exit failed > 0
        }' "$work/runs"
}

vv() {
    local ranks=${1:-2} compiler=${CC:-gcc} version good failed=0 compiled=0
    printf '%-8s %6s %6s %6s %6s\n' version tests built "$compiler" ours
    for version in "$folder"/tests/*/; do
        local tests=0 built=0 theirs=0 ours=0
        while read -r file; do
            tests=$((tests + 1))
            local program=$work/vv.$compiler.$(basename "$version").$(basename "$file" .c)
            [ -x "$program" ] || $compiler -O1 -fopenmp -w -I"$folder/ompvv" -o "$program" "$file" \
                -lm -latomic 2>/dev/null || continue
            built=$((built + 1)) compiled=$((compiled + 1))
            # The programs' status is the number of their errors.
            if OMP_NUM_THREADS=$ranks timeout "$limit" "$program" >/dev/null 2>&1; then
                theirs=$((theirs + 1))
                good=1
            else
                good=0
            fi
            if OMP_NUM_THREADS=$ranks LD_PRELOAD=$LIBRARY timeout "$limit" "$program" \
                >/dev/null 2>&1; then
                ours=$((ours + 1))
            elif [ $good = 1 ]; then
                echo "vv: fails with ours only: ${file#"$folder"/tests/}" >&2
                failed=1
            fi
        done < <(find "$version" -name '*.c' | sort)
        printf '%-8s %6d %6d %6d %6d\n' "$(basename "$version")" $tests $built $theirs $ours
    done
    ran $compiled "tests that $compiler compiles in $folder/tests" || failed=1
    return $failed
}

# What the program $1 writes of its results with $2 ranks.
package() {
    export OMP_NUM_THREADS=$2
    case $1 in
    openblas | fftw) timeout "$limit" "./$1" ;;
    imagemagick)
        timeout "$limit" "$(command -v convert-im6.q16 || echo convert)" -seed 3 -size 300x200 \
            plasma:red-blue rose: -resize '640x480!' -blur 0x3 -sharpen 0x2 -rotate 17 \
            -colorspace Lab -despeckle ppm:- | md5sum
        ;;
    gromacs)
        timeout "$limit" gmx -quiet mdrun -s run.tpr -ntmpi 1 -ntomp "$2" -reprod -nb cpu -pin off \
            -deffnm run -noconfout >/dev/null 2>&1 &&
            sed -n '/^   Energies/,/Constr/p' run.log
        rm -f run.log run.edr run.trr run.cpt
        ;;
    esac
}

# Builds or prepares the package's program in the current folder; fails if it is not installed.
prepare() {
    local sources=$here/openmp/tests/packages
    case $1 in
    openblas)
        gcc -O2 -o openblas "$sources/openblas.c" -I/usr/include/x86_64-linux-gnu/openblas-openmp \
            -lopenblas -lm && ldd openblas | grep -q libopenblas
        ;;
    fftw) gcc -O2 -fopenmp -o fftw "$sources/fftw.c" -lfftw3_omp -lfftw3 -lm ;;
    # Other programs are named `convert` too.
    imagemagick) "$(command -v convert-im6.q16 || echo convert)" -version | grep ImageMagick ;;
    gromacs)
        cp "$sources/gromacs.top" topol.top
        gmx -quiet solvate -cs spc216.gro -box 2.5 2.5 2.5 -o box.gro -p topol.top &&
            gmx -quiet grompp -f "$sources/gromacs.mdp" -c box.gro -p topol.top -o run.tpr -maxwarn 2
        ;;
    esac >prepare.log 2>&1
}

packages() {
    local ranks=${1:-2 4} name number expected how variable failed=0 installed=0
    openmp/link.sh "${LIBRARY%.so}.a" "$work/lib"
    printf '%-12s %5s %-16s %s\n' package ranks by result
    for name in openblas fftw imagemagick gromacs; do
        mkdir -p "$work/$name"
        cd "$work/$name"
        if ! prepare $name; then
            echo "openmp: $name: SKIPPED, not installed: $work/$name/prepare.log" >&2
            continue
        fi
        installed=$((installed + 1))
        for number in $ranks; do
            expected=$(package $name "$number")
            for how in LD_PRELOAD LD_LIBRARY_PATH; do
                variable=$how=$LIBRARY
                [ $how = LD_PRELOAD ] || variable=$how=$work/lib
                # A package that were not to use the library would pass as well.
                local shown result=same
                shown=$(export "${variable?}" OMP_DISPLAY_ENV=verbose; package $name "$number" 2>&1 || true)
                [ -n "$expected" ] &&
                    [ "$(export "${variable?}"; package $name "$number")" = "$expected" ] || result=DIFFERS
                if [ $name != gromacs ] && ! grep -q MANYCORE_VERSION <<<"$shown"; then
                    result="NOT USED"
                fi
                [ "$result" = same ] || failed=1
                printf '%-12s %5s %-16s %s\n' $name "$number" $how "$result"
            done
        done
        cd "$here"
    done
    ran $installed 'one of these packages' || failed=1
    return $failed
}

costs() {
    local ranks=${1:-2} rounds=${2:-5} round
    gcc -O2 -fopenmp -o "$work/constructs" openmp/costs/constructs.c
    shift $(($# < 2 ? $# : 2))
    for ((round = 0; round < rounds; round++)); do
        OMP_NUM_THREADS=$ranks "$work/constructs" "$@" | sed 's/^/gcc /'
        OMP_NUM_THREADS=$ranks LD_PRELOAD=$LIBRARY "$work/constructs" "$@" | sed 's/^/ours /'
    done >"$work/costs"
    awk '
        function middle(whose, name, i, j, n, t, all) {
            n = split(times[whose, name], all, " ")
            for (i = 2; i <= n; i++) {
                t = all[i] + 0
                for (j = i - 1; j > 0 && all[j] + 0 > t; j--) all[j + 1] = all[j]
                all[j + 1] = t
            }
            return all[int((n + 1) / 2)]
        }
        !(($1, $2) in times) && $1 == "gcc" { order[++count] = $2 }
        { times[$1, $2] = times[$1, $2] " " $3 }
        END {
            printf "%-16s %10s %10s %8s\n", "construct", "gcc ns", "ours ns", "ratio"
            for (k = 1; k <= count; k++) {
                a = middle("gcc", order[k]); b = middle("ours", order[k])
                printf "%-16s %10.1f %10.1f %8.2f\n", order[k], a, b, b / a
            }
        }' "$work/costs"
}

intervals() {
    local lengths=${1:-50 100 300 1000} ranks=${2:-3 5 9} rounds=${3:-5} length number round how
    gcc -O2 -fopenmp -o "$work/intervals" openmp/costs/intervals.c
    local all="ours ours-uncut gcc gcc-passive"
    clang -O2 -fopenmp -o "$work/intervals-llvm" openmp/costs/intervals.c 2>/dev/null &&
        all+=" llvm"
    printf '%6s %5s %-14s %s\n' us ranks by "medians: mean, 10th and 50th percentile over the ideal"
    for length in $lengths; do
        for number in $ranks; do
            rm -f "$work"/intervals.*
            for ((round = 0; round < rounds; round++)); do
                for how in $all; do
                    local program=$work/intervals
                    local variables=(OMP_NUM_THREADS="$number")
                    case $how in
                    ours) variables+=(LD_PRELOAD="$LIBRARY") ;;
                    ours-uncut) variables+=(LD_PRELOAD="$LIBRARY" MANYCORE_OMP_CUTS=false) ;;
                    gcc-passive) variables+=(OMP_WAIT_POLICY=passive) ;;
                    llvm) program=$work/intervals-llvm ;;
                    esac
                    env "${variables[@]}" timeout "$limit" "$program" "$length" 0.3 \
                        >>"$work/intervals.$how" || true
                done
            done
            for how in $all; do
                local medians=
                for column in 3 4 5; do
                    medians+=" $(cut -d' ' -f$column "$work/intervals.$how" | sort -n |
                        awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }')"
                done
                printf '%6s %5s %-14s%s\n' "$length" "$number" "$how" "$medians"
            done
        done
    done
}

packed() {
    local programs=${1:-cg.A ft.A bt.A} ranks=${2:-3 5 8} rounds=${3:-5} name number round failed=0
    # What a run tells: its seconds. One that does not verify tells nothing.
    seconds() {
        (cd "$work/$name" && env "$@" timeout "$limit" ./program 2>&1) >"$work/packed.out" || true
        if is_verified <"$work/packed.out"; then
            sed -n 's/.*Time in seconds *= *//p' "$work/packed.out"
        fi
    }
    printf '%-6s %7s %8s %8s %8s %6s\n' program ranks median least most ratio
    for name in $programs; do
        build "${name%.*}" "${name#*.}" || { failed=1; continue; }
        rm -f "$work/packed.$name".*
        for ((round = 0; round < rounds; round++)); do
            seconds OMP_NUM_THREADS="$(nproc)" >>"$work/packed.$name.gcc"
            for number in $ranks; do
                seconds OMP_NUM_THREADS="$number" LD_PRELOAD="$LIBRARY" >>"$work/packed.$name.$number"
            done
        done
        local base=
        for number in gcc $ranks; do
            local row
            row=$(sort -n "$work/packed.$name.$number" | awk -v base="${base/wrong/0}" -v rounds="$rounds" '
                { all[NR] = $1 }
                END {
                    median = all[int((NR + 1) / 2)]
                    if (NR < rounds) print "wrong"
                    else printf "%.3f %.3f %.3f %s", median, all[1], all[NR],
                        (base > 0 ? sprintf("%.3f", median / base) : "-")
                }')
            [ "$row" != wrong ] || failed=1
            base=${base:-${row%% *}}
            # shellcheck disable=SC2086
            printf '%-6s %7s %8s %8s %8s %6s\n' "$name" "$number" $row
        done
    done
    return $failed
}

cores() {
    local programs=${1:-cg.A bt.W} ranks=${2:-3} rounds=${3:-7} name number failed=0
    for name in $programs; do
        build "${name%.*}" "${name#*.}" || { failed=1; continue; }
        for number in $ranks; do
            echo "$name, $number ranks:"
            ci/cores.py "$LIBRARY" "$work/$name/program" --ranks "$number" --rounds "$rounds" || failed=1
        done
    done
    return $failed
}

stress() {
    local seconds=${1:-600} ranks=${2:-5} number
    g++ -O2 -fopenmp -o "$work/stress" openmp/tests/programs/stress.cpp
    for number in $ranks; do
        echo "stress: $number ranks, $seconds s"
        # On a busy machine all ranks would be on one core, and none would move.
        OMP_NUM_THREADS=$number MANYCORE_OMP_HEED=false LD_PRELOAD=$LIBRARY \
            timeout $((seconds + limit)) "$work/stress" "$seconds"
    done
}

emulated() {
    local ranks=${1:-1 2 3 8} machine name number expected result failed=0 installed=0
    printf '%-8s %-10s %5s %s\n' machine program ranks result
    for machine in aarch64 riscv64; do
        local cross=$machine-linux-gnu target=$machine-unknown-linux-gnu
        [ $machine = aarch64 ] || target=riscv64gc-unknown-linux-gnu
        if ! command -v $cross-gcc >/dev/null || ! command -v qemu-$machine >/dev/null; then
            echo "openmp: $machine: SKIPPED, no $cross-gcc or no qemu-$machine" >&2
            continue
        fi
        installed=$((installed + 1))
        rustup --quiet target add $target
        cargo --config "target.$target.linker='$cross-gcc'" build --release --quiet \
            -p manycore-openmp --target $target
        local library=${CARGO_TARGET_DIR:-$here/target}/$target/release/libmanycore_gomp.so
        for name in loops constructs tasks cancel; do
            $cross-gcc -O1 -w -fopenmp -o "$work/$name.$machine" \
                "openmp/tests/programs/$name.c" -lm
            emulate() { # ranks, variables
                timeout "$limit" qemu-$machine -L /usr/$cross -E OMP_CANCELLATION=true \
                    -E OMP_MAX_TASK_PRIORITY=5 -E OMP_NUM_THREADS="$1" "${@:2}" \
                    "$work/$name.$machine" 2>&1
            }
            expected=$(emulate 2)
            for number in $ranks; do
                result=same
                [ -n "$expected" ] &&
                    [ "$(emulate "$number" -E LD_PRELOAD="$library")" = "$expected" ] || result=DIFFERS
                [ $result = same ] || failed=1
                printf '%-8s %-10s %5s %s\n' $machine $name "$number" $result
            done
        done
    done
    ran $installed "a cross compiler and qemu-user" || failed=1
    return $failed
}

# The user's folder, as a whole path.
sources_in() {
    folder=$(cd "${1:?expected the folder with the sources}" && pwd)
}

case $what in
npb | verify | vv | packed | cores)
    sources_in "$@"
    shift
    "$what" "$@"
    ;;
packages | costs | intervals | stress | emulated) "$what" "$@" ;;
*) echo "openmp: $what: expected npb, verify, vv, packages, costs, intervals, packed, cores, stress or emulated" >&2; exit 1 ;;
esac
