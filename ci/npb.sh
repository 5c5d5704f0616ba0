#!/usr/bin/env bash
# The NAS Parallel Benchmarks 3.4 and later, OpenMP in Fortran, from a folder that the user has. Other checks
# source this file.

# The sources of each benchmark, modules first.
npb_sources() {
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

# npb_build FOLDER NAME CLASS DIRECTORY [PREFIX [HOOKS]]: makes DIRECTORY/program with the compilers
# PREFIXgcc and PREFIXgfortran; what they say is in DIRECTORY/log. Copies for simulators call hooks
# around what is timed: those in the object HOOKS, or others that do nothing.
npb_build() {
    local folder=$1 name=$2 class=$3 dir=$4 prefix=${5:-} hooks=${6:-hooks.c}
    [ ! -x "$dir/program" ] || return 0
    mkdir -p "$dir"
    cp -r "$folder/${name^^}/." "$folder/common/"*.f* "$folder/common/"*.c "$folder/common/"*.h "$dir/" 2>/dev/null || true
    # setparams wants a make.def, and only copies its text into the program.
    local definitions=$folder/config/make.def
    [ -f "$definitions" ] || definitions=$folder/config/make.def.template
    mkdir -p "$dir/config" && cp "$definitions" "$dir/config/make.def"
    (
        cd "$dir"
        mkdir -p sys && cp "$folder/sys/setparams.c" sys/ && cp -r config .. 2>/dev/null || true
        mkdir -p ../common && cp c_timers.h wtime.h ../common/
        [ -f blk_par0.h ] && sed 's/=0/=32/' blk_par0.h >blk_par.h
        gcc -w -o setparams sys/setparams.c
        ./setparams "$name" "$class" >/dev/null
        objects=
        printf 'void %s(void) {}\n' roi_begin_ roi_end_ roi_begin roi_end >hooks.c
        if [ "$name" = is ]; then
            "${prefix}gcc" -O3 -fopenmp -w -o program is.c c_print_results.c c_timers.c wtime.c "$hooks" -lm
        else
            "${prefix}gcc" -O3 -c wtime.c -o wtime.o
            for file in $(npb_sources "$name") print_results timers randi8; do
                # Release 3.4 names its files .f, later ones .f90.
                source=$(ls "$file".f "$file".f90 2>/dev/null || true)
                [ -n "$source" ] || continue
                "${prefix}gfortran" -O3 -fopenmp -w -fallow-invalid-boz -c "$source" -o "$file.o"
                objects="$objects $file.o"
            done
            # shellcheck disable=SC2086
            "${prefix}gfortran" -O3 -fopenmp -o program $objects wtime.o "$hooks"
        fi
    ) >"$dir/log" 2>&1 || { echo "npb: $name.$class cannot be built: $dir/log" >&2; return 1; }
}
