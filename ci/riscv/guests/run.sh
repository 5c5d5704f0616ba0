#!/usr/bin/env bash
# How the guests are run, and what of their output counts; for ci/riscv-guests.sh, which sources it.

# What a guest is given: its arguments, its input, its number of threads.
prepare() {
    local name=$1 threads=$2
    rm -rf "$out" && mkdir -p "$out"
    program=$work/$name/program
    arguments=() input=/dev/null
    case $name in
    streamcluster) arguments=(${STREAM:-3 10 3 16 16 10} none "$out/centres" "$threads") ;;
    streamcluster-*) arguments=(${STREAM:-2 5 1 10 10 5} none "$out/centres" "$threads") ;;
    loop-*) arguments=("$threads" "${WAITS:-1000}") ;;
    canneal) arguments=("$threads" 100 300 "$work/canneal/100.nets" 2) ;;
    barnes)
        input=$out/input
        printf '\n%s\n123\n\n0.025\n0.05\n1.0\n2.0\n5.0\n0.075\n0.25\n%s\n' "${BODIES:-1024}" \
            "$threads" >"$input"
        ;;
    esac
}

on_qemu() { # guest threads
    prepare "$1" "$2"
    status=0
    qemu-riscv64 -L "$root" -E "OMP_NUM_THREADS=$2" "$program" "${arguments[@]}" <"$input" \
        >"$out/stdout" 2>"$out/stderr" || status=$?
    [ $status = 0 ]
}

on_chip() { # guest threads flags
    local name=$1 threads=$2
    shift 2
    prepare "$name" "$threads"
    status=0
    runs=$((runs + 1))
    { TIMEFORMAT=%U && time "$manycore" run --root "$root" --env "OMP_NUM_THREADS=$threads" "$@" \
        "$program" "${arguments[@]}" <"$input" >"$out/stdout" 2>"$out/stderr"; } \
        2>"$out/seconds" || status=$?
    instructions=$(told instructions) cycles=$(told cycles) hash=$(told hash) region=$(told region)
    # A guest without marks is all region.
    region=${region:-$cycles}
    [ $status = 0 ] || { tail -n 3 "$out/stderr"; return 1; }
}

told() { sed -n "s/^$1 *\([0-9a-f]*\).*/\1/p" "$out/stderr" | tail -n 1; }

# What must be the same for each run, but for what takes time.
answer() {
    case $1 in
    streamcluster*) md5sum <"$out/centres" ;;
    canneal) grep 'Final routing' "$out/stdout" ;;
    barnes) grep '^BODIES' "$out/stdout" ;;
    *) grep -vE '[Tt]ime|Mop/s|hreads' "$out/stdout" ;;
    esac
}

# Whether $out.found is a right answer, where $out.expected is that of one thread under qemu.
is_right() { # guest threads
    case $1 in
    streamcluster*) cmp -s "$out.found" "$out.expected" ;;
    cg | ft | bt | mg)
        if [ "$2" = 1 ]; then
            cmp -s "$out.found" "$out.expected"
        else
            grep -Eqi 'verification *= *successful' "$out.found"
        fi
        ;;
    *) if [ "$2" = 1 ]; then
        cmp -s "$out.found" "$out.expected"
    else
        is_near "$1"
    fi ;;
    esac
}

# Threads add in any order, and canneal's take what they find: each number is near that of one
# thread. Under qemu canneal's cost with three threads was 3.6% to 9.4% above that of one.
is_near() { # guest
    local most=0.01
    [ "$1" != canneal ] || most=0.1
    paste -d ' ' "$out.found" "$out.expected" | awk -v most=$most '{
        half = NF / 2
        for (at = 1; at <= half; at++) {
            a = $at; b = $(at + half)
            if (a == b) continue
            if (a + 0 == 0 || (a - b) ^ 2 > (most * b) ^ 2) exit 1
        }
    }'
}
