"""Codes: the sparse result of a pursuit."""

from __future__ import annotations

import os
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from . import _lobcod
from ._arrays import Array, aligned, restored
from ._described import described
from ._html import atoms_image, objective_curve, panel
from ._report import Report

_AXES = {1: "t", 2: "hw", 3: "dhw"}
_VALUES = (
    *("position", "atom", "channel", "value", "dictionary", "shape"),
    *("channels", "channel_axis", "border", "penalty", "base", "dtype"),
)
_LOCAL_HEADER = 30
"""Bytes of the header of a file in an archive, whose last four are the lengths of its name and its extra field."""
_SMALLEST_MAP = 1 << 12
_DEPTHS = {"uint8": "u8", "uint16": "u16", "float32": "f32", "float64": "f64"}


@described
@dataclass(frozen=True, eq=False, repr=False)
class Codes:
    """All non-zero codes of an image, and everything needed to reconstruct the image from them.

    The image is ``base + sum_j value[j] * atom[j]``, each atom unflipped with its first sample at ``position[j]``. Codes are
    sorted by position, then atom, then channel. They can be pickled, and saved to a ``.npz`` file that the command line
    reads too. Codes are equal if they hold the same values, whatever their reports.

    {attributes}

    Examples
    --------
    >>> import lobcod
    >>> image = lobcod.still_life(64).mean(axis=-1)
    >>> codes = lobcod.encode(image, penalty=20)
    >>> codes.maps().shape
    (81, 71, 71)
    >>> codes.to_scipy().shape, codes.to_scipy().nnz == len(codes)
    ((5041, 81), True)
    >>> bool(abs(codes.reconstruct() - image).mean() < 10)
    True
    """

    position: Annotated[Array, "First sample covered by each code, ``(nnz, axes)``; may be negative down to ``-(h - 1)``."]
    atom: Annotated[Array, "Number of the atom of each code."]
    channel: Annotated[Array, "Channel of each code where a one-channel dictionary codes each channel separately; otherwise 0."]
    value: Annotated[Array, "The codes."]
    dictionary: Annotated[Array, "The atoms, of unit norm."]
    shape: Annotated[tuple[int, ...], "Size of the coded image, channels not counted."]
    channels: Annotated[int, "Channels of the coded image."]
    channel_axis: Annotated[int | None, "Axis of channels of the coded image."]
    border: Annotated[str, "Border rule: ``free``, ``zero``, ``periodic`` or ``inside``."]
    penalty: Annotated[float, "Penalty of the codes, in units of the image."]
    base: Annotated[Array | None, "The base layer, which was not coded (axes as in the image); ``None`` if there is none."]
    dtype: Annotated[np.dtype[Any], "Sample type of the coded image."]
    _report: Report | None

    def __len__(self) -> int:
        return len(self.value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Codes):
            return NotImplemented
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in _VALUES)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        size = "x".join(map(str, self.shape))
        channels = f" with {self.channels} channels" if self.channels > 1 else ""
        gap = "" if self._report is None else f", {self._report.status}, relative gap {self._report.relative_gap:.1e}"
        return f"<Codes: {len(self)} non-zeros, {len(self.dictionary)} atoms, {size} image{channels}{gap}>"

    def _repr_html_(self) -> str:
        curve = "" if self._report is None else objective_curve(self._report.history)
        return panel(repr(self), atoms_image(self.dictionary, len(self.shape)), curve)

    @property
    def report(self) -> Report:
        """The report of the solver; ``ValueError`` for codes read from a file."""
        if self._report is None:
            raise ValueError("these codes were read from a file and have no report; encode again")
        return self._report

    @property
    def _precision(self) -> str:
        return "f64" if self.value.dtype == np.float64 else "f32"

    @property
    def _planes(self) -> int:
        return self.channels if self.dictionary.ndim == len(self.shape) + 1 else 1

    @property
    def position_shape(self) -> tuple[int, ...]:
        """Size of the grid of positions.

        ``(H + h - 1, W + w - 1)``, ``(H, W)`` if periodic, ``(H - h + 1, W - w + 1)`` inside.
        """
        overlap = {"periodic": 0, "inside": -1}.get(self.border, 1)
        atom = self.dictionary.shape[-len(self.shape) :]
        return tuple(n + overlap * (h - 1) for n, h in zip(self.shape, atom))

    @property
    def first_position(self) -> tuple[int, ...]:
        """The first position along each axis: ``(1 - h, 1 - w)``, or zeros if periodic or inside."""
        inside = self.border in ("periodic", "inside")
        return tuple(0 if inside else 1 - h for h in self.dictionary.shape[-len(self.shape) :])

    def _fields(self) -> dict[str, Any]:
        arrays = {name: aligned(np.asarray(getattr(self, name), np.int32)) for name in ("position", "atom", "channel")}
        return {
            **arrays,
            "value": aligned(self.value),
            "shape": list(self.shape),
            "channels": self.channels,
            "border": self.border,
        }

    def maps(self) -> Array:
        """Dense maps ``(m, H + h - 1, W + w - 1)``, with a leading channel axis if channels are coded separately.

        The code at position ``p`` is at ``p - first_position``.
        """
        maps: Array = _lobcod.maps(self._fields(), aligned(self.dictionary), self._precision)
        return maps if self._planes > 1 else np.asarray(maps[0])

    def to_maps(self) -> Array:
        """Return dense maps, as :meth:`maps`; :meth:`from_maps` is the inverse."""
        return self.maps()

    @classmethod
    def from_maps(
        cls,
        maps: ArrayLike,
        dictionary: ArrayLike,
        *,
        border: str = "free",
        channel_axis: int | None = None,
        penalty: float = 0.0,
        base: ArrayLike | None = None,
    ) -> Codes:
        """Create codes from dense maps ``(m, positions...)``, for example as the start of :func:`encode`.

        Maps have a leading channel axis if a one-channel dictionary codes each channel separately; `channel_axis` is that of
        the image. The size of the image follows from the number of positions and the border rule.

        Examples
        --------
        >>> import lobcod, numpy as np
        >>> codes = lobcod.encode(lobcod.still_life(32).mean(axis=-1), penalty=20)
        >>> again = lobcod.Codes.from_maps(codes.to_maps(), codes.dictionary, penalty=codes.penalty, base=codes.base)
        >>> np.array_equal(again.reconstruct(), codes.reconstruct())
        True
        """
        values, atoms = np.asarray(maps), np.asarray(dictionary)
        overlap = {"free": 1, "zero": 1, "periodic": 0, "inside": -1}.get(border)
        if overlap is None:
            raise ValueError(f"border is {border}, but must be free, zero, periodic or inside")
        spans = channel_axis is not None and atoms.ndim == values.ndim + 1
        planes = values if channel_axis is not None and not spans else values[None]
        rank = planes.ndim - 2
        if rank not in _AXES or atoms.ndim != rank + (2 if spans else 1) or planes.shape[1] != len(atoms):
            raise ValueError(
                f"maps of shape {values.shape} do not fit a dictionary of shape {atoms.shape}; maps are atoms, then positions"
            )
        box = np.array(atoms.shape[-rank:])
        shape = tuple(int(n) for n in np.array(planes.shape[2:]) - overlap * (box - 1))
        if min(shape) < 1:
            raise ValueError(f"maps of shape {values.shape} are too small for atoms of shape {tuple(box)} with border {border}")
        channel, atom, *at = np.nonzero(planes)
        value = planes[(channel, atom, *at)]
        first = np.zeros(rank, int) if border in ("periodic", "inside") else 1 - box
        position = np.stack(at, axis=1) + first
        order = np.lexsort((channel, atom, *position.T[::-1]))
        dtype = np.dtype(np.float64 if value.dtype == np.float64 else np.float32)
        return cls(
            position=position[order].astype(np.int32),
            atom=atom[order].astype(np.int32),
            channel=channel[order].astype(np.int32),
            value=value[order].astype(dtype),
            dictionary=atoms.astype(dtype),
            shape=shape,
            channels=1 if channel_axis is None else atoms.shape[1] if spans else len(planes),
            channel_axis=channel_axis,
            border=border,
            penalty=float(penalty),
            base=None if base is None else np.asarray(base),
            dtype=dtype,
            _report=None,
        )

    def to_sporco(self) -> tuple[Array, Array]:
        """Return the dictionary and the maps in the axes of SPORCO: ``(h, w, [c,] m)`` and ``(H, W, c, 1, m)``.

        The circular convolution of both, cropped to the image, is :meth:`texture`. With the free and the zero border the maps
        have ``h - 1`` more rows than the image, which hold the positions before its first row.
        """
        rank = len(self.shape)
        atoms = np.moveaxis(self.dictionary, 0, -1)
        atoms = np.moveaxis(atoms, 0, rank) if self._planes == 1 and self.dictionary.ndim == rank + 2 else atoms
        maps = self.maps().reshape(self._planes, len(self.dictionary), *self.position_shape)
        if self.border == "inside":
            maps = np.pad(maps, [(0, 0), (0, 0), *((0, n - p) for n, p in zip(self.shape, self.position_shape))])
        rolled = np.roll(maps, self.first_position, axis=tuple(range(2, rank + 2)))
        return atoms, np.moveaxis(rolled, (0, 1), (rank, rank + 1))[..., None, :]

    def to_scipy(self) -> Any:
        """Return a sparse matrix (CSR), positions x atoms; separately coded channels are stacked."""
        from scipy.sparse import csr_matrix

        grid = self.position_shape
        at = self.position.astype(np.int64) - np.array(self.first_position)
        rows = np.ravel_multi_index(tuple(at.T), grid) + self.channel.astype(np.int64) * int(np.prod(grid))
        size = (self._planes * int(np.prod(grid)), len(self.dictionary))
        return csr_matrix((self.value, (rows, self.atom)), shape=size)

    def texture(self) -> Array:
        """Reconstruct the image without the base layer, in the precision of the codes."""
        planes: Array = _lobcod.synthesise(self._fields(), aligned(self.dictionary), self._precision)
        if self.channel_axis is None:
            return np.asarray(planes[0])
        return restored(planes, self.channel_axis, planes.dtype)

    def reconstruct(self) -> Array:
        """Reconstruct the image, including the base layer, in the precision of the codes."""
        texture = self.texture()
        return texture if self.base is None else texture + self.base

    def arrays(self) -> dict[str, Array]:
        """Return everything but the report, as arrays for ``np.savez``; see :meth:`from_arrays`."""
        shape = list(self.shape)
        if self.channel_axis is not None:
            shape.insert(self.channel_axis, self.channels)
        arrays: dict[str, Any] = {
            "format_version": np.int64(1),
            "position": self.position.astype(np.int32),
            "atom": self.atom.astype(np.int32),
            "value": self.value,
            "shape": np.array(shape, np.int64),
            "axes": file_axes(len(self.shape), self.channel_axis),
            "border": self.border,
            "penalty": float(self.penalty),
            "scale": scale_of(self.dtype),
            "depth": depth_of(self.dtype, self._precision),
            "dictionary": self.dictionary,
        }
        if self._planes > 1:
            arrays["channel"] = self.channel.astype(np.int32)
        if self.base is not None:
            arrays["base"] = self.base
        return {name: np.asarray(value) for name, value in arrays.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Codes:
        """Create codes from the result of :meth:`arrays`, or from ``np.load`` of a codes file.

        Examples
        --------
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
            raise ValueError(f"these are not codes: {', '.join(sorted(missing))} is missing; pass codes made by encode")
        if int(arrays.get("format_version", 1)) > 1:
            raise ValueError(f"the codes have format version {int(arrays['format_version'])}; use a newer version of lobcod")
        axes, shape = str(arrays["axes"]), [int(n) for n in arrays["shape"]]
        # Sequences are "t" with or without channels, which are then the last axis.
        channel_axis = 1 if axes == "t" and len(shape) == 2 else axes.index("c") if "c" in axes else None
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
            _report=None,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the codes to a ``.npz`` file, which the command line can decode too."""
        with open(path, "wb") as file:
            np.savez(file, **self.arrays())  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: str | os.PathLike[str], mmap_mode: Literal["r", "c"] | None = None) -> Codes:
        """Read codes from a ``.npz`` file written by :meth:`save` or by ``lobcod encode``.

        With `mmap_mode` (as in :func:`numpy.load`), arrays stay on disk until they are used, for files larger than memory.
        """
        if mmap_mode is not None:
            return cls.from_arrays(mapped_arrays(path, mmap_mode))
        with np.load(path) as arrays:
            return cls.from_arrays(arrays)


def file_axes(rank: int, channel_axis: int | None) -> str:
    """Return the names of the axes of an image in a codes file."""
    axes = _AXES[rank]
    if channel_axis is None or (rank == 1 and channel_axis == 1):
        return axes
    return axes[:channel_axis] + "c" + axes[channel_axis:]


def scale_of(dtype: np.dtype[Any]) -> float:
    """Return the sample value of white, for a codes file."""
    return 65535.0 if dtype == np.uint16 else 255.0


def depth_of(dtype: np.dtype[Any], precision: str) -> str:
    """Return the sample type of an image in a codes file; that of the codes if the file format has no name for it."""
    return _DEPTHS.get(dtype.name, precision)


def mapped_arrays(path: str | os.PathLike[str], mode: Literal["r", "c"]) -> dict[str, Array]:
    """Map the arrays of a ``.npz`` file into memory; small and compressed ones are read."""
    arrays: dict[str, Array] = {}
    with np.load(path) as whole, zipfile.ZipFile(path) as archive, open(path, "rb") as file:
        for member in archive.infolist():
            name = member.filename.removesuffix(".npy")
            if member.compress_type != zipfile.ZIP_STORED or member.file_size < _SMALLEST_MAP:
                arrays[name] = whole[name]
                continue
            # The array follows the local header of the archive, its name and its extra field.
            file.seek(member.header_offset)
            header = file.read(_LOCAL_HEADER)
            file.seek(sum(struct.unpack("<HH", header[-4:])), os.SEEK_CUR)
            version = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, fortran, dtype = read(file)
            arrays[name] = np.memmap(path, dtype, mode, file.tell(), shape, "F" if fortran else "C")
    return arrays
