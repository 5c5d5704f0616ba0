"""The OpenMP library of manycore, and commands that preload it."""

import os

__all__ = ["library"]


def library():
    """The path of the library, for LD_PRELOAD."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "libgomp-manycore.so")
