#!/usr/bin/env bash
# Real clients of OpenMP on the OpenMP library and on the one that they have of their own: the same results, and the
# time over their own's.
#
#   ci/clients.sh [--quick] [OPTION…]    the options are those of ci/clients.py (--help)
#
#   ci/clients.sh --table [MINUTES]      the whole table: all settings, 2, 3, 5 and 8 threads; 20 minutes. Each run is kept in
#                                        target/clients-runs.csv, so that the next call goes on, or adds passes
#
# Python's packages are installed from PyPI in target/clients, once. Debian's (graphicsmagick, kalign, clustalo, fasttree, xtb, mmseqs2,
# libopenblas-openmp-dev, gromacs, r-cran-data.table) are used where they are installed. LIBRARY names another library than target/release/libmanycore_gomp.so.
set -euo pipefail
cd "$(dirname "$0")/.."
environment=${CLIENTS:-target/clients}
library=${LIBRARY:-${CARGO_TARGET_DIR:-target}/release/libmanycore_gomp.so}
if [ ! -f "$library" ]; then
    echo "clients: $library: not there; expected the library (cargo build --release -p manycore-openmp)" >&2
    exit 2
fi
if [ ! -x "$environment/bin/python" ]; then
    python3 -m venv "$environment"
fi
packages=(numpy scikit-learn lightgbm faiss-cpu)
if [ "${1-}" = --table ]; then
    set -- --settings cores,one,quota,busy --runs 9 --least 15 --minutes "${2:-20}" --keep target/clients-runs.csv --csv target/clients.csv
fi
for argument in "$@"; do
    [ "$argument" != --quick ] || quick=true
done
[ -n "${quick-}" ] || packages+=(xgboost-cpu numba pykdtree finufft implicit networkit pyscf mkl)
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check "${packages[@]}"
exec python3 ci/clients.py --python "$environment/bin/python" --library "$library" "$@"
