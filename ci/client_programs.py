"""The clients of ci/clients.py: packages of Python's, and programs with their inputs, which are made here.

A client has `missing`, which says why it cannot run here, or None; `command`; `serial_in`, the settings in which it runs one thread whatever
it is told; and `read`, which gives a run's result and, if the client tells it, its time.
"""

import hashlib
import os
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIT = os.path.join(HERE, "openmp/tests/clients/fit.py")
TABLE = os.path.join(HERE, "openmp/tests/clients/table.R")
PACKAGES = os.path.join(HERE, "openmp/tests/packages")
PYTHON = ["kmeans", "boosting", "lightgbm", "xgboost", "faiss", "numba", "pykdtree", "finufft", "implicit", "networkit", "pyscf", "mkl"]


GROMPP = f"grompp -f {PACKAGES}/gromacs.mdp -c box.gro -p topol.top -o run.tpr -maxwarn 2"


class Script:
    """A client that is a script over a package. It tells its result's hash and its time."""

    def __init__(self, command, missing=None, serial_in=()):
        self.command, self.missing, self.serial_in = command, missing, serial_in

    def read(self, output):
        result, seconds = output.decode().split()[-2:]
        return result, float(seconds)


def fit(python, name):
    """A package of Python's."""
    module = {"kmeans": "sklearn", "boosting": "sklearn"}.get(name, name)
    # It is not loaded, which takes seconds for some. MKL's package has no module.
    look = f"import importlib.util as util, sys; sys.exit(util.find_spec('{module}') is None)"
    if name == "mkl":
        look = "from importlib.metadata import version; version('mkl')"
    missing = subprocess.run([python, "-c", look], capture_output=True).returncode
    # These packages count the CPUs of the mask themselves.
    serial_in = ("one",) if name in ("lightgbm", "xgboost", "numba") else ()
    return Script([python, FIT, name], f"no {module} in {python}" if missing else None, serial_in)


def datatable():
    """R's package. It uses at most one thread for each core, whatever it is told."""
    look = "quit(status = !requireNamespace('data.table', quietly = TRUE))"
    if not shutil.which("Rscript") or subprocess.run(["Rscript", "-e", look], capture_output=True).returncode:
        return without("data.table in R", "r-cran-data.table")
    return Script(["Rscript", TABLE], serial_in=("one", "quota"))


class Program:
    """A client that is a program: its time is that of the process. Its result is what it writes, or the lines of that which `keep` gives."""

    serial_in = ()

    def __init__(self, command, file=None, missing=None, keep=None):
        self.command, self.file, self.missing, self.keep = command, file, missing, keep

    def read(self, output):
        if self.file:
            with open(self.file, "rb") as read:
                output = read.read()
        if self.keep:
            output = self.keep(output)
        if not output:
            return "none", None
        return hashlib.sha256(output).hexdigest()[:16], None


def without(name, package):
    """A client that is not installed."""
    return Program([], missing=f"no {name} (apt-get install {package})")


def graphicsmagick(folder):
    if not shutil.which("gm"):
        return without("gm", "graphicsmagick")
    picture, result = os.path.join(folder, "in.ppm"), os.path.join(folder, "out.ppm")
    with open(picture, "wb") as file:
        file.write(b"P6 700 500 255\n" + bytes((x * x + 7 * x * (x >> 9)) & 255 for x in range(700 * 500 * 3)))
    words = "-resize 1100x800 -blur 3x1.5 -sharpen 3x1 -rotate 7 -despeckle".split()
    return Program(["gm", "convert", picture, *words, result], result)


def relatives(folder, letters, count, length):
    """A file of sequences that are like each other: each letter is changed in one of eight places."""
    path, seed = os.path.join(folder, f"relatives-{len(letters)}-{count}.fa"), 1
    with open(path, "w", encoding="ascii") as file:
        for number in range(count):
            text = []
            for at in range(length):
                seed = (seed * 6364136223846793005 + 1) % (1 << 64)
                text.append(letters[(at * at + at // 7 if seed >> 33 & 7 else seed >> 40) % len(letters)])
            file.write(f">s{number}\n{''.join(text)}\n")
    return path


def kalign(folder):
    if not shutil.which("kalign"):
        return without("kalign", "kalign")
    sequences = relatives(folder, "ACDEFGHIKLMNPQRSTVWY", 120, 300)
    result = os.path.join(folder, "out.fa")
    threads = ["sh", "-c", f'exec kalign -n "$OMP_NUM_THREADS" -i {sequences} -o {result}']
    return Program(threads, result)


def openblas(folder):
    program = os.path.join(folder, "openblas")
    # Another build of OpenBLAS, with threads of its own, may be the system's default.
    build = "/usr/lib/x86_64-linux-gnu/openblas-openmp"
    words = ["-I/usr/include/x86_64-linux-gnu/openblas-openmp", f"-L{build}", f"-Wl,-rpath,{build}", "-lopenblas", "-lm"]
    done = subprocess.run(["gcc", "-O2", "-o", program, f"{PACKAGES}/openblas.c", *words], capture_output=True)
    if done.returncode:
        return Program([], missing="no OpenBLAS to link with (apt-get install libopenblas-openmp-dev)")
    return Program([program])


def clustalo(folder):
    if not shutil.which("clustalo"):
        return without("clustalo", "clustalo")
    sequences = relatives(folder, "ACDEFGHIKLMNPQRSTVWY", 60, 200)
    threads = f'exec clustalo --threads="$OMP_NUM_THREADS" -i {sequences}'
    return Program(["sh", "-c", threads])


def fasttree(folder):
    if not shutil.which("fasttreeMP"):
        return without("fasttreeMP", "fasttree")
    # One run in twelve has another tree, with each library: the sums depend on the order of the threads. The result is the tree's leaves.
    leaves = lambda output: b" ".join(sorted(re.findall(rb"s[0-9]+", output)))
    return Program(["fasttreeMP", "-nt", "-quiet", "-nosupport", relatives(folder, "ACGT", 150, 400)], keep=leaves)


def xtb(folder):
    """A program in Fortran, with OpenBLAS or LAPACK beneath."""
    if not shutil.which("xtb"):
        return without("xtb", "xtb")
    molecule = os.path.join(folder, "chain.xyz")
    with open(molecule, "w", encoding="ascii") as file:
        # Waters in a grid.
        atoms = []
        for at in range(16):
            x, y, z = 3.0 * (at % 4), 3.0 * (at // 4 % 4), 0.0
            atoms += [f"O {x} {y} {z}", f"H {x + 0.96} {y} {z}", f"H {x - 0.24} {y + 0.93} {z}"]
        file.write(f"{len(atoms)}\nwaters\n" + "\n".join(atoms) + "\n")
    # The energy to five digits behind the point: later ones differ from run to run.
    energy = lambda output: b"".join(line.split()[3][:-8] for line in output.splitlines() if b"TOTAL ENERGY" in line)
    return Program(["sh", "-c", f"cd {folder} && exec xtb chain.xyz --gfn 2"], keep=energy)


def mmseqs(folder):
    if not shutil.which("mmseqs"):
        return without("mmseqs", "mmseqs2")
    sequences, result = relatives(folder, "ACDEFGHIKLMNPQRSTVWY", 400, 250), os.path.join(folder, "clusters")
    script = f'rm -rf {result}*; exec mmseqs easy-linclust {sequences} {result} {result}.tmp --threads "$OMP_NUM_THREADS" -v 1'
    # Their order differs from run to run, on libgomp too.
    pairs = lambda output: b"\n".join(sorted(output.splitlines()))
    return Program(["sh", "-c", script], f"{result}_cluster.tsv", keep=pairs)


def gromacs(folder):
    """Water in a box."""
    if not shutil.which("gmx"):
        return without("gmx", "gromacs")
    shutil.copy(f"{PACKAGES}/gromacs.top", f"{folder}/topol.top")
    for words in ("solvate -cs spc216.gro -box 2.5 2.5 2.5 -o box.gro -p topol.top", GROMPP):
        done = subprocess.run(["gmx", "-quiet", *words.split()], cwd=folder, capture_output=True)
        if done.returncode:
            raise SystemExit(f"clients: gmx {words}: {done.stderr.decode(errors='replace')}")
    run = 'gmx -quiet mdrun -s run.tpr -ntmpi 1 -ntomp "$OMP_NUM_THREADS" -reprod -nb cpu -pin off -deffnm run -noconfout'
    # The energies and their averages, to five digits: the sums depend on the number of threads.
    energies = lambda log: b"".join(re.findall(rb"^   Energies.*?\n\n", log, re.MULTILINE | re.DOTALL))
    return Program(["sh", "-c", f"cd {folder} && rm -f run.log run.edr run.trr run.cpt && exec {run}"], f"{folder}/run.log", keep=energies)


def clients(python, folder):
    """All clients, by name."""
    all = {name: (lambda name=name: fit(python, name)) for name in PYTHON}
    for make in (graphicsmagick, kalign, openblas, clustalo, fasttree, xtb, mmseqs, gromacs):
        all[make.__name__] = lambda make=make: make(folder)
    all["data.table"] = datatable
    return all
