"""Pursuit of arrays that are larger than memory: they are read and coded in bands of rows."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import _lobcod
from ._arrays import Array, read_image
from ._codes import Codes, depth_of, file_axes, scale_of
from ._options import threads_for
from ._progress import watching
from ._report import Report
from ._table import FUNCTIONS

SUPPORTED = {
    *("image", "dictionary", "penalty", "relative_penalty", "mask", "border", "tolerance", "base", "channel_axis"),
    *("nonnegative", "atom_weights", "max_nonzeros", "schedule", "local", "tile", "max_sweeps", "seed"),
    *("precision", "threads", "engine", "time_limit", "max_memory", "output", "progress"),
}
"""Options of :func:`encode` that work in bands; all others must have their default there."""


def is_lazy(image: Any) -> bool:
    """Whether an array may be larger than memory: a memory map, or an array of dask, zarr or h5py."""
    if isinstance(image, np.ndarray):
        return isinstance(image, np.memmap)
    # An xarray has chunks if it is lazy; others have the attribute only if they are.
    return hasattr(image, "chunks") and not (image.chunks is None and hasattr(image, "coords"))


@dataclass(frozen=True)
class Rows:
    """An array that is read in strips along its first axis besides channels."""

    array: Any
    mask: Any
    channel_axis: int | None

    @property
    def shape(self) -> tuple[int, ...]:
        """Size along each axis, without channels."""
        return tuple(int(n) for i, n in enumerate(self.array.shape) if i != self.channel_axis)

    @property
    def channels(self) -> int:
        """Number of channels."""
        return 1 if self.channel_axis is None else int(self.array.shape[self.channel_axis])

    def read(self, start: int, stop: int) -> tuple[Array, Array | None]:
        """Read samples, channels first, and their mask; missing samples are 0."""
        strip = read_image(self._cut(self.array, start, stop), self.channel_axis, self._cut(self.mask, start, stop))
        if strip.known is None:
            return strip.array, None
        return np.where(strip.known != 0, strip.array, np.zeros((), strip.array.dtype)), strip.known

    def _cut(self, array: Any, start: int, stop: int) -> Any:
        if array is None:
            return None
        first = 1 if self.channel_axis == 0 and array.ndim == self.array.ndim else 0
        return array[(slice(None),) * first + (slice(start, stop),)]


def encode_in_bands(rows: Rows, atoms: Array, options: dict[str, Any]) -> Codes | None:
    """Code an array in bands if it is too large for the memory limit; return ``None`` if it is not."""
    if rows.mask is not None and not hasattr(rows.mask, "ndim"):
        rows = replace(rows, mask=np.asarray(rows.mask))
    dtype = np.dtype(rows.array.dtype)
    given = {
        "read": rows.read,
        "shape": list(rows.shape),
        "channels": rows.channels,
        "has_channels": rows.channel_axis is not None,
        "masked": rows.mask is not None or (dtype.kind == "f" and options["base"] == "none"),
        "in_memory": not is_lazy(rows.array),
        "unsupported": _unsupported(rows, options),
    }
    axes = file_axes(len(rows.shape), rows.channel_axis)
    output: dict[str, Any] = {"axes": axes, "scale": scale_of(dtype), "depth": depth_of(dtype, options["precision"])}
    options = {**options, "threads": threads_for(options["threads"], int(np.prod(rows.array.shape)))}
    if np.ndim(options["max_nonzeros"]) > 0:
        options["max_nonzeros"] = None
    # Memory maps outlive the name of a file; where they do not, the system removes the folder later.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        output["path"] = options["output"] or os.path.join(folder, "codes.npz")
        with watching(options["progress"]) as options["callback"]:
            report = _lobcod.encode_in_bands(given, atoms, output, options)
        if report is None:
            return None
        codes = Codes.load(output["path"], mmap_mode="r")
    return replace(codes, dtype=dtype, channel_axis=rows.channel_axis, _report=Report._from(report))


def _unsupported(rows: Rows, options: dict[str, Any]) -> str | None:
    """Return the first option that bands do not support."""
    for parameter in FUNCTIONS["encode"].parameters:
        name, value = parameter.name, options.get(parameter.name)
        if name not in SUPPORTED and not _is(value, parameter.default_in("encode")):
            return name
    cases = {
        "max_nonzeros for each position": np.ndim(options["max_nonzeros"]) > 0,
        f'border="{options["border"]}"': options["border"] not in ("free", "zero"),
        f'base="{options["base"]}"': options["base"] not in ("none", "local-mean"),
        "a mask with a base layer": rows.mask is not None and options["base"] != "none",
        "channels on this axis": file_axes(len(rows.shape), rows.channel_axis) not in ("t", "hw", "hwc", "chw", "dhw", "dhwc"),
    }
    return next((what for what, found in cases.items() if found), None)


def _is(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, (str, int, float)) and value == default)
