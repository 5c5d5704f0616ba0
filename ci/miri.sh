#!/usr/bin/env bash
# Miri, an interpreter that knows Rust's memory model and aliasing rules. The model checkers see
# atomics and nothing else; Miri sees every access to plain memory, the frames of loops, joins and
# scopes on their callers' stacks above all; and its loads read stale values where the language
# lets them.
#
#   ci/miri.sh          the unit tests, and one of everything under four seeds
#   ci/miri.sh 16       sixteen seeds
#
# The unit tests take two minutes, and each seed of the rest 20 s of a core; the first time, the
# standard library and the checkers are built for two minutes more.
#
# Needs a nightly toolchain; installs its miri and rust-src. Isolated from the host, so that a
# seed gives one run: the clock counts steps, and there are no files but those of /proc (pools
# take what the standard library says of cores).
#
# What is left out, and why:
#
# * `checked`: loom and shuttle, whose tasks are coroutines in assembly; `conserving`: the
#   simulated machine, likewise; `fiber`: coroutines (its tests say so themselves).
# * `cost::`, `pace::`, `chance::`, `ramp::`, `it_keeps_the_order`: arithmetic of one thread on
#   thousands of random inputs, without unsafe code: hours here, and nothing that Miri could find.
# * `watch::tests`: files of a system.
# * `the_bound_is_reached`, `more_sites_than_are_remembered`: safe code, whose tests leak the names of their cases.
# * `payload::` counts leaks as failures elsewhere, but here what a destructor throws is forgotten on
#   purpose: it runs apart, without that count.
# * `no_job_is_forgotten_for_good`: a thousand jobs for each of ten policies.
# * Tests of runtime/platform that make system calls which Miri lacks: `refused` (filters of system
#   calls), forks, and the processors that were used (`process`).
# * All integration tests but `small`, which has one of everything: the others do the same
#   hundreds of times, and the threads of `contract` wait for each other by spinning, for which an
#   interpreter needs minutes a test.
set -euo pipefail
cd "$(dirname "$0")/.."
seeds=${1:-4}
case $seeds in
*[!0-9]* | '' | 0) echo "miri: expected a number of seeds; found $1" >&2; exit 2 ;;
esac
if ! rustup toolchain list | grep -q nightly; then
    echo "miri: no nightly toolchain is installed; skipped"
    exit 0
fi
rustup --quiet component add --toolchain nightly miri rust-src
flags=(
    # Files and the like that a pool asks the host for are refused, without a line each.
    -Zmiri-isolation-error=hide
    # The standard library finds so many cores.
    -Zmiri-num-cpus=4
    -Zmiri-env-forward=PROPTEST_CASES
)
# Random inputs are tried natively.
export PROPTEST_CASES=2
# Schedules and stale values are chosen at random: one run for each seed, as many at once as
# there are cores.
many="-Zmiri-many-seeds=0..$seeds"

one() { MIRIFLAGS="${flags[*]}" cargo +nightly miri test --quiet "$@"; }
each() { MIRIFLAGS="${flags[*]} $many" cargo +nightly miri test --quiet "$@"; }

one -p manycore-platform --lib
one -p manycore-cores -p manycore -p manycore-team --lib -- --skip checked --skip conserving:: --skip cost:: --skip pace:: \
    --skip chance:: --skip ramp:: --skip it_keeps_the_order --skip watch::tests --skip payload:: \
    --skip the_bound_is_reached --skip more_sites_than_are_remembered
one -p manycore-programs --lib -- barrier:: sleep:: stealing:: --skip checked --skip no_job_is_forgotten_for_good
MIRIFLAGS="${flags[*]} -Zmiri-ignore-leaks" cargo +nightly miri test --quiet -p manycore-cores -p manycore --lib -- payload::
each -p manycore --test small
# What does not exchange stacks: the words of ranks with threads, and what tasks and shares are made of.
# The library's watch runs until the process ends.
many="-Zmiri-ignore-leaks $many"
each -p manycore-openmp --lib -- natively task:: share:: places:: binding:: division:: granularity:: frame::
