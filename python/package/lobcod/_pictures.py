"""Base layers, scores, and a picture made by formula."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _lobcod
from ._arrays import Array, picture, precision_of
from ._options import usual_size


def still_life(size: int) -> Array:
    """A picture made by formula, for examples and tests: a plant and an orange on a striped cloth.

    Returns ``(size, size, 3)`` float32, whole numbers from 0 to 255.

    >>> import lobcod
    >>> lobcod.still_life(32).shape
    (32, 32, 3)
    """
    return np.ascontiguousarray(np.moveaxis(_lobcod.still_life(size), 0, -1))


def base_layer(
    image: Any,
    base: str = "local-mean",
    size: Sequence[int] | None = None,
    known: Any = None,
    *,
    channel_axis: int | None = None,
    precision: str | None = None,
) -> Array:
    """The base layer that :func:`encode` takes off an image before it codes the rest.

    `size` is the box of an atom, by default 16, (8, 8) or (5, 5, 5) by the number of axes.

    >>> import lobcod, numpy as np
    >>> lobcod.base_layer(np.arange(5.0), size=(3,)).tolist()
    [0.6666666666666666, 1.0, 2.0, 3.0, 3.3333333333333335]
    """
    given = picture(image, channel_axis, known)
    box = list(usual_size(given.rank) if size is None else np.atleast_1d(np.asarray(size)))
    precision = precision_of(precision, given.dtype)
    layer = _lobcod.base_layer(given.array, given.has_channels, given.known, base, [int(n) for n in box], precision)
    return given.as_float(layer)


def psnr(image: Any, reference: Any, peak: float = 255.0) -> float:
    """Peak signal-to-noise ratio in dB, ``20 log10(peak sqrt(N) / || image - reference ||)``.

    >>> import lobcod, numpy as np
    >>> round(lobcod.psnr(np.zeros((8, 8)), np.ones((8, 8))), 2)
    48.13
    """
    a, b = np.asarray(image, np.float64).ravel(), np.asarray(reference, np.float64).ravel()
    if np.shape(image) != np.shape(reference):
        raise ValueError(f"the images are {np.shape(image)} and {np.shape(reference)}; they must have the same shape")
    return _lobcod.psnr(a, b, False, float(peak))


def ssim(image: Any, reference: Any, peak: float = 255.0, *, channel_axis: int | None = None) -> float:
    """Structural similarity, as scikit-image with ``gaussian_weights``, sigma 1.5 and ``use_sample_covariance=False``.

    >>> import lobcod
    >>> picture = lobcod.still_life(32)
    >>> lobcod.ssim(picture, picture, channel_axis=-1)
    1.0
    """
    a, b = picture(image, channel_axis), picture(reference, channel_axis)
    return _lobcod.ssim(a.array, b.array, a.has_channels, float(peak))
