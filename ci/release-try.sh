#!/usr/bin/env bash
# Installs each file that ci/release.sh has built in a root where nothing is, uses it, and removes it. Prints
# what was done and what came of it; ends with an error where something is wrong or left behind.
#
#   ci/release-try.sh [FOLDER]     (target/artifacts)
#
# Needs root, mmdebstrap and its mirror (or ROOT_TARBALL, a root that mmdebstrap has made: Debian 12, minbase),
# a C compiler, and PyPI. A quota needs a control group that may be written; without it that part is skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
artifacts=$(readlink -f "${1:-target/artifacts}")
[ -f "$artifacts/SHA256SUMS" ] || { echo "try: $artifacts: no SHA256SUMS; expected what ci/release.sh has built" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "try: expected to be root, for chroot" >&2; exit 2; }
work=$(mktemp -d)
root=$work/root
group=
clean() {
    [ -z "$group" ] || rmdir "$group" 2>/dev/null || true
    umount "$root/proc" 2>/dev/null || true
    rm -rf "$work"
}
trap clean EXIT

step() { printf '\n== %s\n' "$*"; }
wrong() { echo "try: $*" >&2; exit 1; }
# Shows a command, and runs it in the root.
inside() { echo "# $*"; chroot "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    DEBIAN_FRONTEND=noninteractive OMP_NUM_THREADS=3 sh -c "$*"; }
# Shows a command, and runs it here.
here() { echo "\$ $*"; sh -c "$*"; }
# The same; the output's last line is in $last afterwards.
last() {
    here "$*" >"$work/output"
    cat "$work/output"
    last=$(tail -1 "$work/output")
}
# All that is in the root, but for what dpkg and apt keep of their own; and the libraries that the loader finds.
files() {
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/cache \
        -o -path ./var/log -o -path ./tmp \) -prune -o -print | sort)
    chroot "$root" /sbin/ldconfig -p
}
# Ctrl-C, which goes to all processes of a terminal: the program saves, and the command reports.
interrupted="timeout --preserve-status --signal INT 3 manycore-omp --check \
sh -c 'trap \"sleep 1; echo saved; exit 7\" INT; sleep 20' 2>&1"
interrupted() { # the output
    echo "$1"
    if ! grep -qx saved <<<"$1" || ! grep -q ^manycore-omp: <<<"$1"; then
        wrong "no result or no report after Ctrl-C: $1"
    fi
}
nothing_left() {
    files >"$work/after"
    diff "$work/before" "$work/after" || wrong "$1 has left these files"
    echo "nothing is left"
}

step 'sums'
(cd "$artifacts" && sha256sum --check SHA256SUMS)

step 'a clean root: Debian 12'
if [ -n "${ROOT_TARBALL-}" ]; then
    mkdir "$root"
    tar --directory "$root" --extract --file "$ROOT_TARBALL" --exclude './dev/*'
    mknod -m 666 "$root/dev/null" c 1 3
    mknod -m 666 "$root/dev/urandom" c 1 9
else
    mmdebstrap --quiet --variant=minbase bookworm "$root"
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
mount -t proc proc "$root/proc"
cat >"$work/regions.c" <<'END'
#include <omp.h>
#include <stdio.h>
int main(void) {
    int sum = 0;
    for (int round = 0; round < 100; round++) {
#pragma omp parallel reduction(+ : sum)
        sum += omp_get_thread_num() + 1;
    }
    printf("%d\n", sum);
    return sum != 600;
}
END
gcc -O2 -fopenmp -o "$work/regions" "$work/regions.c"
cp "$work/regions" "$root/usr/local/bin/regions"
inside 'apt-get -qq update && apt-get -qq install -y libgomp1 >/dev/null 2>&1 && regions'
cp "$artifacts"/*.deb "$artifacts"/*.tar.gz "$root/tmp"
files >"$work/before"

step 'tarball'
inside 'cd /opt && tar xf /tmp/manycore-openmp-*.tar.gz && ls /opt/*/*'
inside '/opt/manycore-openmp-*/bin/manycore-omp --check regions'
inside 'LD_LIBRARY_PATH=$(echo /opt/manycore-openmp-*/lib/system) OMP_DISPLAY_ENV=verbose regions 2>&1 | grep MANYCORE_VERSION'
inside 'rm -r /opt/manycore-openmp-*'
nothing_left 'the tarball'

step 'libmanycore-gomp'
inside 'apt-get -qq install -y /tmp/libmanycore-gomp_*.deb 2>&1 | grep -v ^debconf'
inside 'dpkg -L libmanycore-gomp; dpkg -s libmanycore-gomp | grep ^Depends'
inside 'cd /usr/share && ls man/man1/manycore-omp.1.gz bash-completion/completions/manycore-omp doc/libmanycore-gomp/NOTICES.txt \
doc/libmanycore-gomp/NOTICES-crates.txt'
inside 'manycore-omp --check regions'
interrupted "$(inside "$interrupted || true")"
inside 'update-alternatives --query openmp-runtime | grep -E "^(Status|Value)"'
inside '! OMP_DISPLAY_ENV=verbose regions 2>&1 | grep MANYCORE_VERSION' || wrong 'used without the alternative'
inside 'update-alternatives --quiet --set openmp-runtime /usr/share/libmanycore-gomp/manycore.conf && ldconfig'
inside 'OMP_DISPLAY_ENV=verbose regions 2>&1 | grep MANYCORE_VERSION' || wrong 'the alternative has no effect'
inside 'apt-get -qq purge -y libmanycore-gomp 2>&1 | grep -v ^debconf'
inside '! OMP_DISPLAY_ENV=verbose regions 2>&1 | grep MANYCORE_VERSION && regions' || wrong 'used after its removal'
nothing_left 'libmanycore-gomp'

if ls "$root"/tmp/manycore_*.deb >/dev/null 2>&1; then
    step 'manycore'
    inside 'apt-get -qq install -y /tmp/manycore_*.deb 2>&1 | grep -v ^debconf'
    inside 'manycore --version && manycore presets | head -3'
    inside 'cd /usr/share && ls man/man1/manycore.1.gz man/man1/manycore-study.1.gz bash-completion/completions/manycore \
zsh/vendor-completions/_manycore fish/vendor_completions.d/manycore.fish doc/manycore/NOTICES.txt doc/manycore/NOTICES-crates.txt doc/manycore/LICENSE-MIT'
    inside 'apt-get -qq purge -y manycore 2>&1 | grep -v ^debconf'
    nothing_left 'manycore'
fi

step 'wheel'
python3 -m venv "$work/venv"
venv=$work/venv/bin
here "$venv/pip install --quiet --disable-pip-version-check scikit-learn lightgbm numpy threadpoolctl"
(cd "$work/venv" && find . -name __pycache__ -prune -o -print | sort) >"$work/before"
here "$venv/pip install --quiet --disable-pip-version-check $(echo "$artifacts"/manycore_openmp-*.whl)"
cat >"$work/fit.py" <<'END'
import hashlib, time
import lightgbm, numpy
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingRegressor

rng = numpy.random.default_rng(1)
x = rng.normal(size=(4000, 12))
y = x[:, 0] * x[:, 1] + x[:, 2]
began = time.perf_counter()
results = [
    KMeans(8, n_init=2, random_state=1).fit(x).labels_,
    HistGradientBoostingRegressor(max_iter=30, random_state=1).fit(x, y).predict(x).round(9),
    lightgbm.LGBMRegressor(n_estimators=30, verbose=-1, deterministic=True, force_row_wise=True).fit(x, y).predict(x).round(9),
    numpy.linalg.svd(x[:200], compute_uv=False).round(9),
]
took = time.perf_counter() - began
print(hashlib.sha256(b"".join(numpy.ascontiguousarray(it).tobytes() for it in results)).hexdigest()[:16], f"{took:.2f} s")
END
export OMP_NUM_THREADS=3
last "$venv/python $work/fit.py"
alone=$last
last "$venv/python -m manycore_openmp --check $work/fit.py"
[ "${alone%% *}" = "${last%% *}" ] || wrong "other results: $alone, $last"
here "$venv/manycore-omp --check $work/regions"
interrupted "$(here "PATH=$venv:$PATH $interrupted || true")"
last "$venv/python -m manycore_openmp -c 'from threadpoolctl import threadpool_limits as limits
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads as threads
with limits(1, \"openmp\"): print(threads())'"
[ "$last" = 1 ] || wrong "threadpoolctl does not limit the threads to 1: $last"
# A quota of 1.5 CPUs, in either version of control groups.
if [ -f /sys/fs/cgroup/cgroup.controllers ]; then
    if mkdir /sys/fs/cgroup/manycore-try 2>/dev/null; then
        group=/sys/fs/cgroup/manycore-try
        echo '150000 100000' >$group/cpu.max || { rmdir $group; group=; }
    fi
elif mkdir /sys/fs/cgroup/cpu/manycore-try 2>/dev/null; then
    group=/sys/fs/cgroup/cpu/manycore-try
    echo 150000 >$group/cpu.cfs_quota_us
fi
if [ -n "$group" ]; then
    for how in '' '-m manycore_openmp --check'; do
        last "echo \$\$ >$group/cgroup.procs; exec $venv/python $how $work/fit.py"
        [ "${alone%% *}" = "${last%% *}" ] || wrong "other results under a quota: $alone, $last"
        grep nr_throttled $group/cpu.stat
    done
else
    echo 'SKIPPED: no control group for a quota'
fi
here "$venv/pip uninstall --quiet --disable-pip-version-check -y manycore-openmp"
(cd "$work/venv" && find . -name __pycache__ -prune -o -print | sort) >"$work/after"
diff "$work/before" "$work/after" || wrong 'the wheel has left these files'
echo 'nothing is left'
echo
echo 'try: all is well'
