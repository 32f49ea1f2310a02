"""Speed and memory against peers, as ratios measured in one run on one thread: ``python -m benchmarks``."""

import os

for pool in ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR"):  # before any module loads NumPy
    os.environ[f"{pool}_NUM_THREADS"] = "1"
