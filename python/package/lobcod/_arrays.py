"""Arrays of users to what the extension reads, and results back to their kind.

Arrays of float32, float64, uint8, uint16 and bool are handed on as views, whatever their strides; others are converted once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_READ_IN_PLACE = tuple(np.dtype(t) for t in (np.float32, np.float64, np.uint8, np.uint16, np.bool_))


@dataclass(frozen=True)
class Picture:
    """An array ready for the extension: channels first if it has an axis of them."""

    array: Array
    has_channels: bool
    channel_axis: int | None
    dtype: np.dtype[Any]
    known: Array | None
    """Which samples are observed, channels first; ``None``: all."""

    @property
    def rank(self) -> int:
        """Axes besides that of channels."""
        return self.array.ndim - int(self.has_channels)

    @property
    def channels(self) -> int:
        """Number of channels."""
        return int(self.array.shape[0]) if self.has_channels else 1

    @property
    def shape(self) -> tuple[int, ...]:
        """Size along the axes besides that of channels."""
        return tuple(int(n) for n in self.array.shape[int(self.has_channels) :])

    def given(self) -> dict[str, Any]:
        """What the extension learns from."""
        return {"image": self.array, "has_channels": self.has_channels, "mask": self.known}

    def restore(self, array: Array) -> Array:
        """A result with the axes and the type of samples of the picture; whole numbers are rounded and clipped."""
        return restored(array, self.channel_axis, self.dtype)

    def as_float(self, array: Array) -> Array:
        """A result with the axes of the picture, its samples as they are."""
        return restored(array, self.channel_axis, array.dtype)


def restored(array: Array, channel_axis: int | None, dtype: np.dtype[Any]) -> Array:
    """Puts the channels of a result where they were, and its samples into their type."""
    if channel_axis is not None:
        array = np.moveaxis(array, 0, channel_axis)
    if dtype.kind in "ui" and array.dtype.kind == "f":
        limits = np.iinfo(dtype)
        array = np.clip(np.rint(array), limits.min, limits.max)
    elif dtype.kind == "b":
        dtype = array.dtype
    return np.ascontiguousarray(array, dtype=dtype)


def readable(array: Any, what: str) -> Array:
    """The array itself where the extension can read it in place, else converted; ``TypeError`` unless it holds real numbers."""
    found: Array = np.asarray(array)
    if found.dtype.kind not in "buif":
        raise TypeError(f"{what} holds {found.dtype} values, but must hold real numbers; convert it first")
    if found.dtype in _READ_IN_PLACE and found.dtype.isnative:
        return found
    return found.astype(np.float32 if found.dtype.itemsize <= 2 else np.float64)


def picture(image: Any, channel_axis: int | None, mask: Any = None, what: str = "the image") -> Picture:
    """Looks at an image: its axes, its type, and which of its samples are observed."""
    given = np.asarray(image)
    array = readable(given, what)
    if channel_axis is not None:
        if not -array.ndim <= channel_axis < array.ndim:
            raise ValueError(f"{what} has {array.ndim} axes, so there is no axis {channel_axis} of channels")
        channel_axis %= array.ndim
        array = np.moveaxis(array, channel_axis, 0)
    found = Picture(array, channel_axis is not None, channel_axis, given.dtype, None)
    known = None if mask is None else _mask(mask, found)
    if array.dtype.kind == "f":
        missing = np.isnan(array)
        if missing.any():
            known = ~missing if known is None else np.where(missing, np.zeros((), known.dtype), known)
    return found if known is None else Picture(array, found.has_channels, channel_axis, given.dtype, known)


def _mask(mask: Any, image: Picture) -> Array:
    known = np.asarray(mask)
    if known.dtype.kind not in "buif":
        raise TypeError(f"the mask holds {known.dtype} values, but must hold True or 1 (observed) and False or 0 (missing)")
    if known.dtype.kind in "ui":
        known = known != 0
    known = readable(known, "the mask")
    if image.channel_axis is not None and known.ndim == image.array.ndim:
        known = np.moveaxis(known, image.channel_axis, 0)
    if known.shape not in (image.shape, image.array.shape):
        raise ValueError(
            f"the mask is {known.shape}, but the image is {image.array.shape if known.ndim > image.rank else image.shape}; "
            "they must have the same shape"
        )
    return known


def precision_of(precision: str | None, *dtypes: np.dtype[Any]) -> str:
    """``f64`` where double precision is asked for, or not asked against and given; else ``f32``."""
    if precision is None:
        return "f64" if any(d.kind == "f" and d.itemsize >= 8 for d in dtypes) else "f32"
    if precision not in ("f32", "f64"):
        raise ValueError(f"the precision is {precision}, but must be f32 or f64")
    return precision
