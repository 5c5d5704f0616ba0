#!/usr/bin/env bash
# Links the static library to a `libgomp.so.1` with the versions of symbols that GCC's has, for
# LD_LIBRARY_PATH, or to link against with -L FOLDER -lgomp.
#
#   cargo build --release -p manycore-openmp
#   openmp/link.sh target/release/libmanycore_gomp.a FOLDER
set -euo pipefail
archive=${1:?expected the archive libmanycore_gomp.a}
folder=${2:?expected the folder for libgomp.so.1}
here=$(cd "$(dirname "$0")" && pwd)
[ -f "$archive" ] || { echo "link: $archive: no such file; expected libmanycore_gomp.a" >&2; exit 2; }
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Functions of the C library's that the library has as well, in front of it. Programs ask for these with the C library's
# versions. They are defined with each of those here, but as no default: so a program that is linked against this library
# still asks the C library for them, and can go back to GCC's. Functions of GLIBC_2.3.3 have other arguments.
front="sched_yield pthread_yield thrd_yield pthread_spin_lock usleep nanosleep clock_nanosleep pthread_mutex_init
    clock_gettime gettimeofday time timespec_get sleep pthread_barrier_wait pthread_cond_wait pthread_cond_timedwait pthread_cond_clockwait cnd_wait cnd_timedwait
    sem_wait sem_timedwait sem_clockwait poll ppoll select pselect epoll_wait epoll_pwait read recv accept pthread_join waitpid wait"
front+=" __read_chk __recv_chk __recvfrom_chk __poll_chk __ppoll_chk recvfrom recvmsg accept4 waitid wait4 thrd_join thrd_sleep"
front+=" readv recvmmsg wait3 epoll_pwait2 pthread_timedjoin_np pthread_clockjoin_np"
front+=" sched_setaffinity sched_getaffinity pthread_setaffinity_np pthread_getaffinity_np gettid pthread_kill pthread_sigqueue"
libc=$("${CC:-cc}" -print-file-name=libc.so.6)
names=$(readelf --wide --dyn-syms "$libc" | awk -v front="$front" '
    BEGIN { split(front, list); for (at in list) wanted[list[at]] }
    { split($8, parts, /@+/); if (parts[1] in wanted && parts[2] != "GLIBC_2.3.3") print parts[1], parts[2] }' | sort -u)
{
    echo '.text'
    echo "$names" | while read -r name version; do
        symbol=manycore_front_${name}_${version//./_}
        printf '.globl %s\n.type %s, %%function\n.symver %s, %s@%s\n%s:\n' \
            "$symbol" "$symbol" "$symbol" "$name" "$version" "$symbol"
        case $("${CC:-cc}" -dumpmachine) in
            x86_64-*) printf 'jmp %s\n' "$name" ;;
            aarch64-*) printf 'b %s\n' "$name" ;;
            riscv64-*) printf 'tail %s\n' "$name" ;;
        esac
    done
    echo '.section .note.GNU-stack,"",%progbits'
} >"$work/front.s"
{
    cat "$here/libgomp.map"
    echo "$names" | awk 'NF { print $2 " { };" }' | sort -u
} >"$work/map"

# rustc gives the linker a version script of its own for a shared library, beside which another has
# no effect; so the C compiler links. `nodelete`: its threads go on when a program that has loaded it late
# closes it.
"${CC:-cc}" -shared -o "$folder/libgomp.so.1" -Wl,-soname,libgomp.so.1 \
    -Wl,--version-script="$work/map" -Wl,--no-undefined -Wl,-z,relro,-z,now,-z,nodelete \
    "$work/front.s" -Wl,--whole-archive "$archive" -Wl,--no-whole-archive -Wl,--gc-sections \
    -lgcc_s -lutil -lrt -lpthread -lm -ldl -lc
ln -sf libgomp.so.1 "$folder/libgomp.so"
