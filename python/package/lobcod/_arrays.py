"""Conversion of user arrays for the extension, and of results back to their type.

Arrays of float32, float64, uint8, uint16 and bool are handed on as views, whatever their strides; others are converted once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from . import _lobcod
from ._kinds import NOT_GIVEN
from ._warnings import warn

Array = npt.NDArray[Any]

_READ_IN_PLACE = tuple(np.dtype(t) for t in (np.float32, np.float64, np.uint8, np.uint16, np.bool_))
_COLOUR_CHANNELS = (3, 4)
_DLPACK_CPU = 1
_SMALLEST_COLOUR_IMAGE = 16


class SupportsArray(Protocol):
    """An array, or an object that numpy can read as one."""

    def __array__(self) -> Array: ...


@dataclass(frozen=True)
class Image:
    """An array ready for the extension, channels first if it has a channel axis."""

    array: Array
    channel_axis: int | None
    dtype: np.dtype[Any]
    known: Array | None = None
    """Mask of observed samples, channels first; ``None`` if all are observed."""
    labelled: Any = None
    """The xarray the image was read from, if any: results have its dimensions and coordinates."""

    @property
    def has_channels(self) -> bool:
        """Whether the first axis is the channel axis."""
        return self.channel_axis is not None

    @property
    def rank(self) -> int:
        """Number of axes, without channels."""
        return self.array.ndim - int(self.has_channels)

    @property
    def channels(self) -> int:
        """Number of channels."""
        return int(self.array.shape[0]) if self.has_channels else 1

    @property
    def shape(self) -> tuple[int, ...]:
        """Size along each axis, without channels."""
        return tuple(int(n) for n in self.array.shape[int(self.has_channels) :])

    def fields(self) -> dict[str, Any]:
        """Return the image in the form the extension expects."""
        return {"image": self.array, "has_channels": self.has_channels, "mask": self.known}

    def restore(self, array: Array) -> Array:
        """Convert a result to the axes and sample type of the image; integers are rounded and clipped."""
        return self._relabelled(restored(array, self.channel_axis, self.dtype))

    def as_float(self, array: Array) -> Array:
        """Convert a result to the axes of the image, keeping its sample type."""
        return self._relabelled(restored(array, self.channel_axis, array.dtype))

    def _relabelled(self, array: Array) -> Array:
        if self.labelled is None or self.labelled.shape != array.shape:
            return array
        labelled: Array = self.labelled.copy(data=array)
        return labelled


def restored(array: Array, channel_axis: int | None, dtype: np.dtype[Any]) -> Array:
    """Move the channels of a result to their axis, and convert its sample type."""
    if channel_axis is not None:
        array = np.moveaxis(array, 0, channel_axis)
    if dtype.kind in "ui" and array.dtype.kind == "f":
        limits = np.iinfo(dtype)
        array = np.clip(np.rint(array), limits.min, limits.max)
    elif dtype.kind == "b":
        dtype = array.dtype
    return np.ascontiguousarray(array, dtype=dtype)


def as_numpy(array: Any) -> Array:
    """Convert to a numpy array: a view of CPU memory if possible, a copy of GPU memory."""
    if hasattr(array, "detach"):
        array = array.detach()
    if hasattr(array, "__dlpack_device__") and array.__dlpack_device__()[0] != _DLPACK_CPU and hasattr(array, "cpu"):
        array = array.cpu()
    if hasattr(array, "__dlpack__") and not hasattr(array, "__array__"):
        return np.from_dlpack(array)
    return np.asarray(array)


def plain(array: Any, what: str) -> Array:
    """Convert to a numpy array; ``ValueError`` if values are masked, because the mask would be lost."""
    if np.ma.is_masked(array):
        raise ValueError(f"{what} has masked values; fill them first")
    return as_numpy(array)


def readable(array: Any, what: str) -> Array:
    """Return the array if the extension can read it in place, else a converted copy; ``TypeError`` unless it is real."""
    found = plain(array, what)
    if found.dtype.kind not in "buif":
        raise TypeError(f"{what} has dtype {found.dtype}, but must contain real numbers; convert it first")
    if found.dtype in _READ_IN_PLACE and found.dtype.isnative:
        return aligned(found)
    return found.astype(np.float32 if found.dtype.itemsize <= 2 else np.float64)


def aligned(array: Array) -> Array:
    """Return the array, or a copy if its numbers are not at multiples of their size, as in some files mapped into memory."""
    return np.require(array, requirements="A")


def read_image(image: Any, channel_axis: Any, mask: Any = None, *, what: str = "the image", axes_known: bool = False) -> Image:
    """Read an image: its axes, its type and its observed samples.

    Samples are missing where the mask is 0, where they are NaN, and where they are masked in a masked array. Unless `axes_known`,
    an array that looks like a colour image gets a warning where `channel_axis` was not given.
    """
    masked = np.ma.getmaskarray(image) if np.ma.is_masked(image) else None
    given = as_numpy(image)
    if given.ndim == 0:
        raise ValueError(f"{what} is {given.dtype} without axes, but must be an array; use a list for several images")
    if not axes_known:
        warn_of_colour(given.shape, channel_axis, what)
    channel_axis = checked_axis(channel_axis, given.ndim, what)
    array = readable(given, what)
    labelled = image if hasattr(image, "dims") and hasattr(image, "coords") else None
    found = Image(_channels_first(array, channel_axis), channel_axis, given.dtype, labelled=labelled)
    known = None if mask is None else _mask(mask, found)
    missing = None if masked is None else _channels_first(masked, channel_axis)
    if array.dtype.kind == "f":
        nan = np.isnan(found.array)
        if nan.any():
            missing = nan if missing is None else missing | nan
    if missing is not None:
        known = ~missing if known is None else np.where(missing, np.zeros((), known.dtype), known)
    return replace(found, known=known)


def checked_axis(channel_axis: Any, ndim: int, what: str) -> int | None:
    """Return the channel axis counted from the first axis, or ``None``; ``ValueError`` if there is no such axis."""
    if channel_axis is NOT_GIVEN or channel_axis is None:
        return None
    if not -ndim <= channel_axis < ndim:
        raise ValueError(f"{what} has {ndim} axes, so {channel_axis} is not a valid channel_axis")
    return int(channel_axis % ndim)


def warn_of_colour(shape: tuple[int, ...], channel_axis: Any, what: str) -> None:
    """Warn if an array looks like a colour image but `channel_axis` was not given."""
    if channel_axis is not NOT_GIVEN or len(shape) != 3:
        return
    if shape[2] in _COLOUR_CHANNELS and min(shape[:2]) >= _SMALLEST_COLOUR_IMAGE:
        warn(
            f"{what} of shape {shape} has no channel axis, but its last axis looks like one; "
            "pass channel_axis=-1 for a colour image, or channel_axis=None if it has no channels"
        )


def complete(image: Image, what: str = "the image") -> Image:
    """Return the image; ``ValueError`` if samples are missing."""
    if image.known is not None:
        raise ValueError(f"{what} has missing samples; fill them first")
    return image


def flat(image: Image, what: str = "the image") -> Image:
    """Return the image; ``ValueError`` unless it has two axes besides channels."""
    if image.rank != 2:
        raise ValueError(f"{what} has {image.rank} axes besides channels, but must have 2; pass channel_axis=-1 for colour")
    return image


def white_of(array: Array, dtype: np.dtype[Any]) -> float:
    """Return the sample value of white: the maximum of an integer type; for floats 1, 255 or 65535, by their range."""
    if dtype.kind in "ui":
        return float(np.iinfo(dtype).max)
    if dtype.kind == "b":
        return 1.0
    least, most = float(np.nanmin(array, initial=np.inf)), float(np.nanmax(array, initial=-np.inf))
    return _lobcod.common_white(least, most) or (most if most > 0 else 255.0)


def _channels_first(array: Array, channel_axis: int | None) -> Array:
    return array if channel_axis is None else np.moveaxis(array, channel_axis, 0)


def _mask(mask: Any, image: Image) -> Array:
    known = plain(mask, "the mask")
    if known.dtype.kind not in "buif":
        raise TypeError(f"the mask has dtype {known.dtype}, but must contain True or 1 (observed) and False or 0 (missing)")
    if known.dtype.kind in "ui":
        known = known != 0
    if known.dtype.kind == "f":
        weights = known[known > 0]
        # 0 and 255 mean missing and known, not a weight of 255.
        if weights.size and 1 < weights.min() == weights.max():
            raise ValueError(f"a mask weight is {weights[0]:g}, and all others are 0; use True and False")
    known = readable(known, "the mask")
    if known.ndim == image.array.ndim:
        known = _channels_first(known, image.channel_axis)
    if known.shape not in (image.shape, image.array.shape):
        raise ValueError(
            f"the mask is {known.shape}, but the image is {image.array.shape if known.ndim > image.rank else image.shape}; "
            "they must have the same shape"
        )
    return known


def precision_of(precision: str | None, *dtypes: np.dtype[Any]) -> str:
    """Return the given precision; by default ``f64`` if one of the arrays has double precision, else ``f32``."""
    if precision is None:
        return "f64" if any(d.kind == "f" and d.itemsize >= 8 for d in dtypes) else "f32"
    if precision not in ("f32", "f64"):
        raise ValueError(f"the precision is {precision}, but must be f32 or f64")
    return precision
