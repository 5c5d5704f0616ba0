#!/usr/bin/env bash
# The checks that take too long for each change, one after the other; for a night, or before
# a release. A check that fails does not keep the others from running.
#
#   ci/long.sh                all of them, some hours
#   ci/long.sh miri deny      these
#   ci/long.sh --list         their names, after a comparison with the head of this file and with the workflow
#
#   model      every model check; ten times the random schedules
#   random     twenty times the random programs: the pool's on simulated machines, the chip's, and the guests'
#   ignored    the tests that `cargo test` ignores since they take long
#   miri       Rust's memory model (nightly)
#   tsan       ThreadSanitizer (nightly)
#   fuzz       a million damaged inputs
#   doubled    whether the simulated studies' numbers are those of runs twice as long
#   platforms  other processors and systems
#   rayon      rayon's own tests on runtime/rayon-core
#   peers      every peer runs every index once
#   programs   programs over rayon's interface, on both cores: that their results are right, and that they share
#              (an idle machine)
#   openmp     Debian's packages and the costs of constructs on openmp, and programs that wait, none of which takes
#              more than 1.5 times as long as on GCC's library (an idle machine; WAITS_ROUNDS=1: no times are
#              judged); with NPB and OMPVV, the folders of these suites, those too
#   clients    real clients of OpenMP: results and times beside their own library's (PyPI)
#   release    what ci/release.sh builds, installed in clean roots and removed again (root, mmdebstrap)
#   dependents tests and times of packages that use rayon, on runtime/rayon-core
#   riscv      C, C++ and Fortran programs on simulator/riscv beside qemu; with RISCV_TESTS, the folder of
#              riscv-tests, and with GUESTS, that of NPB, PARSEC and Splash-3, those too
#              (apt-get install g{cc,++,fortran}-riscv64-linux-gnu qemu-user m4)
#   cuts       ranks of OpenMP programs that are cut at any instruction, for ten minutes
#   semver     the API against the last release's, the tag v... before this commit
#              (cargo install cargo-semver-checks)
#   page       the report in a real browser (apt-get install chromium fonts-liberation)
#   deny       licences, advisories and sources of dependencies (cargo install cargo-deny)
#
# What a check needs and is not here is named in a line, and the check is skipped.
set -uo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never
all=(
    model random ignored miri tsan fuzz doubled platforms rayon peers programs openmp clients release dependents riscv
    cuts semver page deny
)
# The list above is complete, and so is the workflow's.
documented=$(sed -n 's/^#   \([a-z][a-z]*\)  *[^ ].*/\1/p' "$0" | tr '\n' ' ')
[ "$documented" = "${all[*]} " ] || { echo "long: the head of this file has $documented, and the list ${all[*]}" >&2; exit 2; }
workflow=.github/workflows/long.yml
weekly=$(sed -n '/^        check:$/,/^    [a-z]/s/^ *- //p' $workflow | tr '\n' ' ')
[ "$weekly" = "${all[*]} " ] || { echo "long: $workflow has $weekly, and the list of this file ${all[*]}" >&2; exit 2; }
named=$(sed -n "s/^ *\([a-z]*\)).*/\1/p" $workflow; grep -o "matrix.check [!=]= '[a-z]*" $workflow | sed "s/.*'//")
for check in $named; do
    case " ${all[*]} " in
    *" $check "*) ;;
    *) echo "long: $workflow names $check, which is no check of ${all[*]}" >&2; exit 2 ;;
    esac
done
[ "${1:-}" != --list ] || { printf '%s\n' "${all[@]}"; exit; }

have_nightly() { rustup toolchain list 2>/dev/null | grep -q nightly; }
last_release() { git describe --tags --abbrev=0 --match 'v*' 2>/dev/null; }

# Why the check $1 cannot be run here; nothing, if it can.
missing() {
    case $1 in
    miri) have_nightly || echo "no nightly toolchain (rustup toolchain install nightly)" ;;
    tsan)
        have_nightly || echo "no nightly toolchain (rustup toolchain install nightly)"
        ;;
    doubled) command -v python3 >/dev/null || echo "no python3" ;;
    platforms) command -v rustup >/dev/null || echo "no rustup, which installs targets" ;;
    riscv)
        if ! command -v riscv64-linux-gnu-gcc >/dev/null || ! command -v qemu-riscv64 >/dev/null; then
            echo "no gcc for riscv64, or no qemu-riscv64"
        fi
        ;;
    cuts) command -v g++ >/dev/null || echo "no g++" ;;
    semver)
        if ! cargo semver-checks --version >/dev/null 2>&1; then
            echo "no cargo-semver-checks (cargo install cargo-semver-checks)"
        elif [ -z "$(last_release)" ]; then
            echo "no release to compare with: no tag v..."
        fi
        ;;
    clients) command -v python3 >/dev/null || echo "no python3" ;;
    release)
        if ! cargo deb --version >/dev/null 2>&1; then
            echo "no cargo-deb (cargo install cargo-deb)"
        elif ! command -v mmdebstrap >/dev/null || [ "$(id -u)" != 0 ]; then
            echo "no mmdebstrap (apt-get install mmdebstrap), or not root"
        fi
        ;;
    openmp)
        for command in gcc gmx convert aarch64-linux-gnu-gcc riscv64-linux-gnu-gcc qemu-aarch64 qemu-riscv64; do
            command -v $command >/dev/null || { echo "no $command (ci/openmp.sh names the packages)"; break; }
        done
        ;;
    page) command -v "${CHROMIUM:-chromium}" >/dev/null || echo "no ${CHROMIUM:-chromium} (apt-get install chromium)" ;;
    deny) cargo deny --version >/dev/null 2>&1 || echo "no cargo-deny (cargo install cargo-deny)" ;;
    esac
}

run() {
    case $1 in
    model) ci/model.sh 10 ;;
    random)
        export MANYCORE_SCHEDULES=20
        cargo test --quiet --package manycore --lib conserving &&
            cargo test --quiet --package manycore-chip --test machine &&
            cargo test --quiet --package manycore-riscv --lib tests
        local code=$?
        unset MANYCORE_SCHEDULES
        return $code
        ;;
    # With the variable, which is what has loom try all interleavings.
    ignored) MANYCORE_SCHEDULES=1 cargo test --quiet --workspace --lib --bins --tests -- --ignored ;;
    miri) ci/miri.sh ;;
    tsan) ci/tsan.sh ;;
    fuzz) ci/fuzz.sh ;;
    doubled) ci/doubled.py ;;
    platforms) ci/platforms.sh ;;
    rayon) ci/rayon.sh ;;
    peers) ci/peers.sh ;;
    # 0.80 is usual. A pool whose joins stay on one core has 1.0.
    programs) ci/rayon-bench.sh --rounds 4 --time 30 --at-most 0.95 ;;
    dependents) ci/rayon-dependents.sh ;;
    riscv)
        ci/riscv.sh programs && ci/riscv.sh hashes && ci/riscv.sh errors && ci/riscv.sh exec &&
            { [ -z "${RISCV_TESTS:-}" ] || ci/riscv.sh tests "$RISCV_TESTS"; } &&
            { [ -z "${GUESTS:-}" ] || ci/riscv-guests.sh right "$GUESTS"; }
        ;;
    cuts) ci/openmp.sh stress ;;
    clients)
        cargo build --release --quiet --package manycore-openmp &&
            ci/clients.sh --table 20
        ;;
    release) ci/release.sh && ci/release.sh --try ;;
    openmp)
        ci/openmp.sh packages && ci/openmp.sh costs && ci/openmp.sh emulated && ci/waits.sh "2 3 5 8" "${WAITS_ROUNDS:-7}" &&
            { [ -z "${NPB:-}" ] || ci/openmp.sh npb "$NPB"; } &&
            { [ -z "${OMPVV:-}" ] || ci/openmp.sh vv "$OMPVV" 4; }
        ;;
    # Crates that are not published are left out by the tool.
    semver) cargo semver-checks --workspace --baseline-rev "$(last_release)" ;;
    page) ci/page.sh ;;
    deny)
        cargo deny check && cargo deny --manifest-path laboratory/peers/Cargo.toml --config "$PWD/deny.toml" check
        ;;
    esac
}

checks=("$@")
[ $# -gt 0 ] || checks=("${all[@]}")
for check in "${checks[@]}"; do
    case " ${all[*]} " in
    *" $check "*) ;;
    *) echo "long: expected any of ${all[*]}; found $check" >&2; exit 2 ;;
    esac
done

results=()
failed=0
for check in "${checks[@]}"; do
    why=$(missing "$check")
    if [ -n "$why" ]; then
        echo "long: $check: SKIPPED, $why"
        results+=("$check skipped: $why")
        continue
    fi
    printf '\n== %s\n' "$check"
    start=$SECONDS
    if run "$check"; then
        results+=("$check passed, $((SECONDS - start)) s")
    else
        results+=("$check FAILED, $((SECONDS - start)) s")
        failed=$((failed + 1))
    fi
done
printf '\n== long checks\n'
printf 'long: %s\n' "${results[@]}"
exit $((failed > 0))
