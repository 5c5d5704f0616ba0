#!/usr/bin/env bash
# Programs of others on the OpenMP library, from folders that the user has; nothing is downloaded.
#
#   ci/openmp.sh npb FOLDER [CLASSES] [RANKS] [ROUNDS]   the NAS Parallel Benchmarks 3.4, OpenMP in
#                        Fortran: each is built by gfortran, run, and asked whether it verifies
#   ci/openmp.sh vv FOLDER [RANKS]    the OpenMP Validation & Verification suite's C tests, with
#                        GCC's own library and with ours: a table by version of passes
#
# LIBRARY names another library than the one that is built; a program that runs for longer than LIMIT
# seconds (60) counts as hanging. Needs gcc, and gfortran for npb.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD
what=${1:?expected npb or vv}
folder=$(cd "${2:?expected the folder with the sources}" && pwd)
limit=${LIMIT:-60}
if [ -z "${LIBRARY:-}" ]; then
    cargo build --release --quiet -p manycore-openmp
    LIBRARY=${CARGO_TARGET_DIR:-$here/target}/release/libmanycore_gomp.so
fi
work=${WORK:-$(mktemp -d)}
mkdir -p "$work"

# The sources of each benchmark, modules first.
sources() {
    case $1 in
    bt) echo bt_data work_lhs bt initialize exact_solution exact_rhs set_constants adi rhs x_solve y_solve \
        z_solve solve_subs add error verify ;;
    cg) echo cg_data cg ;;
    ep) echo ep_data ep verify ;;
    ft) echo ft_data ft ;;
    lu) echo lu_data lu read_input domain setcoeff setbv exact setiv erhs ssor rhs l2norm jacld blts \
        jacu buts error pintgr verify syncs ;;
    mg) echo mg_data mg ;;
    sp) echo sp_data work_lhs sp initialize exact_solution exact_rhs set_constants adi rhs x_solve ninvr \
        y_solve pinvr z_solve tzetar add txinvr error verify ;;
    esac
}

build() { # benchmark class
    local name=$1 class=$2 dir=$work/$1.$2
    [ -x "$dir/program" ] && return
    mkdir -p "$dir"
    cp -r "$folder/${name^^}/." "$folder/common/"*.f90 "$folder/common/"*.c "$folder/common/"*.h "$dir/" 2>/dev/null || true
    mkdir -p "$dir/config" && cp "$folder/config/make.def" "$dir/config/"
    (
        cd "$dir"
        mkdir -p sys && cp "$folder/sys/setparams.c" sys/ && cp -r config .. 2>/dev/null || true
        mkdir -p ../common && cp c_timers.h wtime.h ../common/
        [ -f blk_par0.h ] && sed 's/=0/=32/' blk_par0.h >blk_par.h
        gcc -w -o setparams sys/setparams.c
        ./setparams "$name" "$class" >/dev/null
        objects=
        # Copies for simulators call hooks around what is timed; elsewhere nobody calls these.
        printf 'void %s(void) {}\n' roi_begin_ roi_end_ roi_begin roi_end >hooks.c
        if [ "$name" = is ]; then
            gcc -O3 -fopenmp -w -o program is.c c_print_results.c c_timers.c wtime.c hooks.c -lm
        else
            gcc -O3 -c wtime.c -o wtime.o
            for file in $(sources "$name") print_results timers randi8; do
                [ -f "$file.f90" ] || continue
                gfortran -O3 -fopenmp -w -c "$file.f90" -o "$file.o"
                objects="$objects $file.o"
            done
            gfortran -O3 -fopenmp -o program $objects wtime.o hooks.c
        fi
    ) >"$dir/log" 2>&1 || { echo "npb: $name.$class cannot be built: $dir/log" >&2; return 1; }
}

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
                    # "Verification = SUCCESSFUL", and MG and EP say it in other columns.
                    grep -Eqi 'verification *= *successful' <<<"$out" && good=$((good + 1))
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

vv() {
    local ranks=${1:-2} version
    printf '%-8s %6s %6s %6s %6s\n' version tests built gcc ours
    for version in "$folder"/tests/*/; do
        local tests=0 built=0 theirs=0 ours=0
        while read -r file; do
            tests=$((tests + 1))
            local program=$work/vv.$(basename "$version").$(basename "$file" .c)
            [ -x "$program" ] || gcc -O1 -fopenmp -w -I"$folder/ompvv" -o "$program" "$file" -lm \
                2>/dev/null || continue
            built=$((built + 1))
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
            fi
        done < <(find "$version" -name '*.c' | sort)
        printf '%-8s %6d %6d %6d %6d\n' "$(basename "$version")" $tests $built $theirs $ours
    done
}

shift 2
case $what in
npb) npb "$@" ;;
vv) vv "$@" ;;
*) echo "openmp: $what: expected npb or vv" >&2; exit 1 ;;
esac
