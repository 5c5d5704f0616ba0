#!/usr/bin/env bash
# Real clients of OpenMP on the OpenMP library and on the one that they have of their own: the same results, and the
# time over their own's.
#
#   ci/clients.sh [--quick] [OPTION…]    the options are those of ci/clients.py (--help)
#
# Python's packages are installed from PyPI in target/clients, once. Debian's (graphicsmagick, kalign, libopenblas-openmp-dev,
# r-cran-data.table) are used where they are installed. LIBRARY is the library, target/release/libmanycore_gomp.so.
set -euo pipefail
cd "$(dirname "$0")/.."
environment=${CLIENTS:-target/clients}
library=${LIBRARY:-target/release/libmanycore_gomp.so}
if [ ! -f "$library" ]; then
    echo "clients: $library: not there; expected the library (cargo build --release -p manycore-openmp)" >&2
    exit 2
fi
if [ ! -x "$environment/bin/python" ]; then
    python3 -m venv "$environment"
fi
packages=(numpy scikit-learn lightgbm faiss-cpu)
for argument in "$@"; do
    [ "$argument" != --quick ] || quick=true
done
[ -n "${quick-}" ] || packages+=(xgboost-cpu numba pykdtree finufft)
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check "${packages[@]}"
exec python3 ci/clients.py --python "$environment/bin/python" --library "$library" "$@"
