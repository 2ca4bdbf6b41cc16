"""One call of `lobcod denoise` on an array."""

import tempfile
from pathlib import Path

import numpy as np

from lib.common import lobcod


def denoise(noisy, *options, binary=None):
    """The denoised image and the report."""
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "noisy.npy", Path(folder) / "clean.npy"
        np.save(source, noisy.astype(np.float32))
        report = lobcod("denoise", source, "-o", output, *options, threads=0, binary=binary)
        return np.load(output), report
