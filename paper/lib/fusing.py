"""Focus pairs: how they are made, fused and scored."""

from pathlib import Path

import numpy as np
from scipy import ndimage

from lib.common import lobcod, psnr, read, save_image

# The authors' part of an image, without the rim that zeros outside darken: rows and columns 8 to 8 before the end,
# counted from 1.
INNER = np.s_[7:-8, 7:-8]


def blur(image, side, sigma):
    """The authors' blur: samples of a Gaussian, window i-7..i+8 for 16, zeros outside."""
    x = np.arange(side) - (side - 1) / 2
    bell = np.exp(-x * x / (2 * sigma * sigma))
    kernel = np.outer(bell, bell) / bell.sum() ** 2
    return np.round(ndimage.correlate(image, kernel, mode="constant", origin=0 if side % 2 else -1))


def splits(height, width):
    y, x = np.mgrid[:height, :width]
    return {
        "vertical": x < width // 2,
        "diagonal": x * height + y * width < height * width,
        "disc": (x - width / 2) ** 2 + (y - height / 2) ** 2 < (0.3 * min(height, width)) ** 2,
    }


def score(a, b, inner=INNER):
    return psnr(a[inner], b[inner])


def fuse(folder, frames, *options):
    """Fuse images (arrays or files): the report and the written image."""
    files = []
    for i, frame in enumerate(frames):
        if isinstance(frame, np.ndarray):
            files.append(Path(folder) / f"frame{i}.png")
            save_image(files[-1], frame)
        else:
            files.append(frame)
    output = Path(folder) / "fused.png"
    return lobcod("fuse", *files, "-o", output, *options, threads=0), read(output)
