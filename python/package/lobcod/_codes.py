"""Codes: the sparse answer of a pursuit."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _lobcod
from ._arrays import Array, restored
from ._report import Report

_AXES = {1: "t", 2: "hw", 3: "dhw"}
_DEPTHS = {"uint8": "u8", "uint16": "u16", "float32": "f32", "float64": "f64"}


@dataclass(frozen=True)
class Codes:
    """All non-zero codes of an image, and what it takes to make an image of them.

    The image is ``base + sum_j value[j] * atom[j]``, each atom unflipped with its first sample at ``position[j]``. Codes are
    sorted by position, then atom, then channel. They can be pickled, and kept in a ``.npz`` file that the command line reads too.

    Examples
    --------
    >>> import lobcod
    >>> picture = lobcod.still_life(64).mean(axis=-1)
    >>> codes = lobcod.encode(picture, penalty=20)
    >>> codes.maps().shape
    (81, 71, 71)
    >>> codes.to_scipy().shape, codes.to_scipy().nnz == len(codes)
    ((5041, 81), True)
    >>> bool(abs(codes.reconstruct() - picture).mean() < 10)
    True
    """

    position: Array
    """First sample covered by each code, ``(nnz, axes)``; may be negative down to ``-(h - 1)``."""
    atom: Array
    """Number of the atom of each code."""
    channel: Array
    """Channel of each code where a one-channel dictionary codes each channel by itself; otherwise 0."""
    value: Array
    """The codes."""
    dictionary: Array
    """The atoms, of unit norm."""
    shape: tuple[int, ...]
    """Size of the coded image, channels not counted."""
    channels: int
    """Channels of the coded image."""
    channel_axis: int | None
    """Axis of channels of the coded image."""
    border: str
    """Border rule: ``free``, ``zero`` or ``periodic``."""
    penalty: float
    """Penalty the codes were found with, in units of the image."""
    base: Array | None
    """The base layer, which was not coded (axes as in the image); ``None``: there is none."""
    dtype: np.dtype[Any]
    """Type of the samples of the coded image."""
    told: Report | None
    """The report, if there is one: codes read from a file have none."""

    def __len__(self) -> int:
        return len(self.value)

    def __repr__(self) -> str:
        size = "x".join(map(str, self.shape))
        return f"Codes({len(self)} non-zeros of a {size} image with {self.channels} channels, {len(self.dictionary)} atoms)"

    @property
    def report(self) -> Report:
        """What the solver says of the codes; ``ValueError`` for codes read from a file."""
        if self.told is None:
            raise ValueError("these codes were read from a file and have no report; encode again")
        return self.told

    @property
    def _precision(self) -> str:
        return "f64" if self.value.dtype == np.float64 else "f32"

    @property
    def _planes(self) -> int:
        return self.channels if self.dictionary.ndim == len(self.shape) + 1 else 1

    @property
    def position_shape(self) -> tuple[int, ...]:
        """Size of the grid of positions: ``(H + h - 1, W + w - 1)``, or ``(H, W)`` when periodic."""
        if self.border == "periodic":
            return self.shape
        atom = self.dictionary.shape[-len(self.shape) :]
        return tuple(n + h - 1 for n, h in zip(self.shape, atom))

    def _given(self) -> dict[str, Any]:
        arrays = {name: np.ascontiguousarray(getattr(self, name), np.int32) for name in ("position", "atom", "channel")}
        return {**arrays, "value": self.value, "shape": list(self.shape), "channels": self.channels, "border": self.border}

    def maps(self) -> Array:
        """Dense maps ``(m, H + h - 1, W + w - 1)``, with an axis of channels before them where channels are coded one by one.

        The code at position ``p`` stands at ``p + (h - 1, w - 1)`` (at ``p`` when periodic).
        """
        maps: Array = _lobcod.maps(self._given(), self.dictionary, self._precision)
        return maps if self._planes > 1 else np.asarray(maps[0])

    def to_scipy(self) -> Any:
        """A sparse matrix (CSR), positions x atoms; where channels are coded one by one, those of a channel after the other's."""
        from scipy.sparse import csr_matrix

        grid = self.position_shape
        at = self.position.astype(np.int64)
        if self.border != "periodic":
            at += np.array(self.dictionary.shape[-len(grid) :]) - 1
        rows = np.ravel_multi_index(tuple(at.T), grid) + self.channel.astype(np.int64) * int(np.prod(grid))
        size = (self._planes * int(np.prod(grid)), len(self.dictionary))
        return csr_matrix((self.value, (rows, self.atom)), shape=size)

    def texture(self) -> Array:
        """What the codes stand for, without the base layer, in the precision of the codes."""
        planes: Array = _lobcod.synthesise(self._given(), self.dictionary, self._precision)
        if self.channel_axis is None:
            return np.asarray(planes[0])
        return restored(planes, self.channel_axis, planes.dtype)

    def reconstruct(self) -> Array:
        """The image that the codes and the base layer stand for, in the precision of the codes."""
        texture = self.texture()
        return texture if self.base is None else texture + self.base

    def arrays(self) -> dict[str, Array]:
        """All that the codes hold but their report, as arrays for ``np.savez``; see :meth:`from_arrays`."""
        axes = _AXES[len(self.shape)]
        shape = list(self.shape)
        if self.channel_axis is not None:
            at = self.channel_axis
            axes, shape = axes[:at] + "c" + axes[at:], [*shape[:at], self.channels, *shape[at:]]
        arrays: dict[str, Any] = {
            "position": self.position.astype(np.int32),
            "atom": self.atom.astype(np.int32),
            "value": self.value,
            "shape": np.array(shape, np.int64),
            "axes": axes,
            "border": self.border,
            "penalty": float(self.penalty),
            "scale": 65535.0 if self.dtype == np.uint16 else 255.0,
            "depth": _DEPTHS.get(self.dtype.name, "f64" if self._precision == "f64" else "f32"),
            "dictionary": self.dictionary,
        }
        if self._planes > 1:
            arrays["channel"] = self.channel.astype(np.int32)
        if self.base is not None:
            arrays["base"] = self.base
        return {name: np.asarray(value) for name, value in arrays.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Codes:
        """Codes from what :meth:`arrays` returned, or from the ``np.load`` of a file.

        >>> import io, lobcod, numpy as np
        >>> codes = lobcod.encode(lobcod.still_life(32), penalty=20, channel_axis=-1)
        >>> file = io.BytesIO()
        >>> np.savez(file, **codes.arrays())
        >>> _ = file.seek(0)
        >>> again = lobcod.Codes.from_arrays(np.load(file))
        >>> np.array_equal(again.reconstruct(), codes.reconstruct())
        True
        """
        missing = {"position", "atom", "value", "shape", "axes", "border", "dictionary"} - set(arrays)
        if missing:
            raise ValueError(f"these are no codes: {', '.join(sorted(missing))} is missing; give what encode made")
        axes, shape = str(arrays["axes"]), [int(n) for n in arrays["shape"]]
        channel_axis = axes.index("c") if "c" in axes else None
        channels = 1 if channel_axis is None else shape.pop(channel_axis)
        value = np.asarray(arrays["value"])
        depths = {depth: name for name, depth in _DEPTHS.items()}
        return cls(
            position=np.asarray(arrays["position"]),
            atom=np.asarray(arrays["atom"]),
            channel=np.asarray(arrays["channel"]) if "channel" in arrays else np.zeros(len(value), np.int32),
            value=value,
            dictionary=np.asarray(arrays["dictionary"]),
            shape=tuple(shape),
            channels=channels,
            channel_axis=channel_axis,
            border=str(arrays["border"]),
            penalty=float(arrays["penalty"]),
            base=np.asarray(arrays["base"]) if "base" in arrays else None,
            dtype=np.dtype(depths.get(str(arrays["depth"]), value.dtype) if "depth" in arrays else value.dtype),
            told=None,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the codes to a ``.npz`` file, which the command line decodes too."""
        with open(path, "wb") as file:
            np.savez(file, **self.arrays())  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Codes:
        """Reads the codes of a ``.npz`` file written by :meth:`save` or by ``lobcod encode``."""
        with np.load(path) as arrays:
            return cls.from_arrays(arrays)
