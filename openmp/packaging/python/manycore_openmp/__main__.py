"""`python -m manycore_openmp [--check] SCRIPT …`: as `python SCRIPT …`, with the library preloaded."""

import sys

from .command import main

if __name__ == "__main__":
    sys.exit(main(before=[sys.executable]))
