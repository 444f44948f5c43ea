"""Environment variables that torch and its matrix library read when they are loaded."""

from __future__ import annotations

import os


def prepare_environment() -> None:
    """Sets the variables that are not set already; call it before the first import of torch."""
    # Threads that spin while waiting starve other processes.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # By default, MKL chooses how to multiply by the numbers of rows and threads, and then bits depend on them.
    os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")
