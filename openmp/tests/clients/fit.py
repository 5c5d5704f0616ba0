"""Clients of Python's packages: `fit.py NAME` does the work of one, and prints a hash of its result and the seconds it took.

The seconds are those of the work: neither imports nor a first, shorter piece of work count, which begins threads and compiles.
"""

import ctypes
import glob
import hashlib
import os
import sys
import time

import numpy

rng = numpy.random.default_rng(1)


def kmeans():
    from sklearn.cluster import KMeans

    x = rng.normal(size=(20000, 16))
    return lambda part: KMeans(16, n_init=1, max_iter=60 // part, tol=0, random_state=1).fit(x).labels_


def boosting():
    from sklearn.ensemble import HistGradientBoostingRegressor

    x = rng.normal(size=(20000, 12))
    y = x[:, 0] * x[:, 1] + x[:, 2]
    return lambda part: HistGradientBoostingRegressor(max_iter=60 // part, random_state=1).fit(x, y).predict(x)


def lightgbm():
    import lightgbm as package

    x = rng.normal(size=(20000, 20))
    y = x[:, 0] * x[:, 1] + x[:, 2]
    words = dict(verbose=-1, deterministic=True, force_row_wise=True)
    return lambda part: package.LGBMRegressor(n_estimators=60 // part, **words).fit(x, y).predict(x)


def xgboost():
    import xgboost as package

    x = rng.normal(size=(20000, 20))
    y = x[:, 0] * x[:, 1] + x[:, 2]
    words = dict(tree_method="hist", max_depth=5)
    return lambda part: package.XGBRegressor(n_estimators=40 // part, **words).fit(x, y).predict(x)


def faiss():
    import faiss as package

    x = rng.normal(size=(8000, 32)).astype("float32")

    def work(part):
        means = package.Kmeans(32, 24, niter=12 // part, seed=1)
        means.train(x)
        index = package.IndexIVFFlat(package.IndexFlatL2(32), 32, 40)
        index.train(x)
        index.add(x)
        distances, found = index.search(x[: 4000 // part], 5)
        # Distances differ in their last bits with the order of sums.
        return found

    return work


def numba():
    import numba as package

    package.config.THREADING_LAYER = "omp"

    @package.njit(parallel=True)
    def smooth(a, rounds):
        b = a.copy()
        for _ in range(rounds):
            for i in package.prange(1, a.shape[0] - 1):
                for j in range(1, a.shape[1] - 1):
                    b[i, j] = 0.2 * (a[i, j] + a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
            a, b = b, a
        return a

    a = rng.normal(size=(500, 500))
    return lambda part: smooth(a.copy(), 400 // part)


def pykdtree():
    from pykdtree.kdtree import KDTree

    x = rng.normal(size=(60000, 3))
    tree = KDTree(x)
    return lambda part: tree.query(x[: 60000 // part], k=8)[1]


def finufft():
    import finufft as package

    points = rng.uniform(-3, 3, size=(2, 400000))
    values = rng.normal(size=400000) + 0j
    return lambda part: package.nufft2d1(*points[:, :: part], values[:: part], (128, 128), eps=1e-6).round(3)


def implicit():
    from implicit.als import AlternatingLeastSquares
    from scipy.sparse import random

    likes = random(4000, 1500, 0.02, format="csr", dtype="float32", random_state=1)

    def work(part):
        words = dict(factors=32, iterations=12 // part, random_state=1, use_gpu=False)
        model = AlternatingLeastSquares(**words)
        model.fit(likes, show_progress=False)
        return model.user_factors.round(2) + 0.0

    return work


def networkit():
    import networkit as package

    graph = package.Graph(1200)
    for a, b in zip(rng.integers(0, 1200, 7000), rng.integers(0, 1200, 7000)):
        graph.addEdge(int(a), int(b))

    def work(part):
        walks = package.centrality.PageRank(graph, tol=1e-9 * part)
        walks.run()
        between = package.centrality.Betweenness(graph) if part == 1 else walks
        between.run()
        return numpy.array(between.scores()).round(3)

    return work


def pyscf():
    from pyscf import gto, scf

    # Two waters.
    text = "O 0 0 0; H 0.96 0 0; H -0.24 0.93 0; O 0 0 3; H 0.96 0 3; H -0.24 0.93 3"
    molecule = gto.M(atom=text, basis="6-31g", verbose=0)

    def work(part):
        method = scf.RHF(molecule)
        method.max_cycle = 20 // part
        return numpy.array([method.kernel()]).round(6)

    return work


def mkl():
    """Intel's MKL over GCC's OpenMP: a product, a linear system, eigenvalues."""
    os.environ["MKL_THREADING_LAYER"] = "GNU"
    # MKL looks for its functions in what is loaded.
    ctypes.CDLL("libgomp.so.1", ctypes.RTLD_GLOBAL)
    package = ctypes.CDLL(glob.glob(f"{sys.prefix}/lib/libmkl_rt.so*")[0], ctypes.RTLD_GLOBAL)
    at = lambda array: array.ctypes.data_as(ctypes.c_void_p)
    rows, n, one, zero = 101, 400, ctypes.c_double(1), ctypes.c_double(0)
    letters = ctypes.c_char(b"N"), ctypes.c_char(b"U")
    a, b = rng.normal(size=(n, n)), rng.normal(size=(n, n))

    def work(part):
        c, pivots, values = numpy.empty((n, n)), numpy.empty(n, dtype="int32"), numpy.empty(n)
        for _ in range(16 // part):
            package.cblas_dgemm(rows, 111, 111, n, n, n, one, at(a), n, at(b), n, zero, at(c), n)
        for _ in range(4 // part):
            left, right = a.copy(), b.copy()
            package.LAPACKE_dgesv(rows, n, n, at(left), n, at(pivots), at(right), n)
            symmetric = a + a.T
            package.LAPACKE_dsyevd(rows, *letters, n, at(symmetric), n, at(values))
        # The last digits depend on how the work is divided.
        return numpy.array([abs(c).sum(), abs(right).sum(), *values[::40]]).round(3) + 0.0

    return work


CLIENTS = [kmeans, boosting, lightgbm, xgboost, faiss, numba, pykdtree, finufft, implicit, networkit, pyscf, mkl]


def main():
    names = {client.__name__: client for client in CLIENTS}
    if sys.argv[1:] == ["list"]:
        print(*names)
        return
    if len(sys.argv) != 2 or sys.argv[1] not in names:
        sys.exit(f"fit: expected one of {' '.join(names)}, or list")
    work = names[sys.argv[1]]()
    work(4)
    began = time.perf_counter()
    result = work(1)
    took = time.perf_counter() - began
    print(hashlib.sha256(numpy.ascontiguousarray(result).tobytes()).hexdigest()[:16], f"{took:.4f}")


main()
