"""Base layers, scores and a synthetic image."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _lobcod
from ._arrays import Array, Image, precision_of, read_image
from ._options import usual_size
from ._public import public


def still_life(size: int) -> Array:
    """Generate a synthetic image for examples and tests: a plant and an orange on a striped cloth.

    Returns ``(size, size, 3)`` float32, integers from 0 to 255.

    Examples
    --------
    >>> import lobcod
    >>> lobcod.still_life(32).shape
    (32, 32, 3)
    """
    return np.ascontiguousarray(np.moveaxis(_lobcod.still_life(size), 0, -1))


@public("base_layer")
def base_layer(image: Any, **options: Any) -> Array:
    """Compute the base layer that :func:`encode` subtracts before coding.

    {parameters}

    Returns
    -------
    array
        In floating point.

    Examples
    --------
    >>> import lobcod, numpy as np
    >>> lobcod.base_layer(np.arange(5.0), size=(3,)).tolist()
    [0.6666666666666666, 1.0, 2.0, 3.0, 3.3333333333333335]
    """
    size = options["size"]
    given = read_image(image, options["channel_axis"], options["known"], axes_known=size is not None)
    box = list(usual_size(given.rank) if size is None else size)
    precision = precision_of(options["precision"], given.dtype)
    layer = _lobcod.base_layer(given.array, given.has_channels, given.known, options["base"], box, precision)
    return given.as_float(layer)


def psnr(image: ArrayLike, reference: ArrayLike, data_range: float | None = None) -> float:
    """Compute the peak signal-to-noise ratio in dB, ``20 log10(data_range sqrt(N) / || image - reference ||)``.

    `data_range` is the largest sample minus the smallest one possible, such as 255 or 1.0. It may be left out for images of one
    integer type, whose range is that of the type (from 0 on if the reference has no negative sample), as in scikit-image.

    Examples
    --------
    >>> import lobcod, numpy as np
    >>> round(lobcod.psnr(np.zeros((8, 8)), np.ones((8, 8)), data_range=255), 2)
    48.13
    """
    a, b = _pair(image, reference, None)
    return _lobcod.psnr(a.array.ravel(), b.array.ravel(), False, _range_of(a, b, data_range, whole=bool(b.array.min() < 0)))


def ssim(image: ArrayLike, reference: ArrayLike, data_range: float | None = None, *, channel_axis: int | None = None) -> float:
    """Compute structural similarity, as scikit-image with ``gaussian_weights``, sigma 1.5 and ``use_sample_covariance=False``.

    `data_range` is as for :func:`psnr`.

    Examples
    --------
    >>> import lobcod
    >>> image = lobcod.still_life(32)
    >>> lobcod.ssim(image, image, data_range=255, channel_axis=-1)
    1.0
    """
    a, b = _pair(image, reference, channel_axis)
    return _lobcod.ssim(a.array, b.array, a.has_channels, _range_of(a, b, data_range))


def _pair(image: Any, reference: Any, channel_axis: int | None) -> tuple[Image, Image]:
    """Two images to compare."""
    if np.shape(image) != np.shape(reference):
        raise ValueError(f"the images are {np.shape(image)} and {np.shape(reference)}; they must have the same shape")
    pair = read_image(image, channel_axis), read_image(reference, channel_axis, what="the reference")
    if any(one.known is not None for one in pair):
        raise ValueError("the images have missing samples; compare the others, as in psnr(a[known], b[known])")
    return pair


def _range_of(a: Image, b: Image, data_range: float | None, whole: bool = True) -> float:
    """Return the given range, or that of the integer type (its non-negative part if no sample is negative)."""
    if data_range is not None:
        return float(data_range)
    if a.dtype != b.dtype or a.dtype.kind not in "uib":
        raise ValueError(
            f"data_range is required for images of types {a.dtype} and {b.dtype}; "
            "pass the range of their samples, such as 255 or 1.0"
        )
    if a.dtype.kind == "b":
        return 1.0
    limits = np.iinfo(a.dtype)
    return float(limits.max) - (float(limits.min) if whole else 0.0)
