"""Dictionaries: built-in ones, files, and the layouts of other packages."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from . import _lobcod
from ._arrays import Array, precision_of, readable
from ._kinds import BOX, WHOLE

EmbeddedName = Literal["natural", "natural-12x12-128", "natural-rgb-8x8-96"]
Precision = Literal["f32", "f64"]
Axes = Literal["mt", "mct", "mhw", "mchw", "mdhw", "mcdhw"]


def embedded_dictionary(name: EmbeddedName = "natural") -> Array:
    """Return a built-in dictionary, learnt from photographs minus their local mean.

    ``"natural"``: 81 atoms of 8x8; ``"natural-12x12-128"``: 128 atoms of 12x12; ``"natural-rgb-8x8-96"``: 96 atoms of 8x8 that
    span red, green and blue.

    Examples
    --------
    >>> import lobcod
    >>> lobcod.embedded_dictionary().shape, lobcod.embedded_dictionary("natural-rgb-8x8-96").shape
    ((81, 8, 8), (96, 3, 8, 8))
    """
    return _lobcod.embedded_atoms(name)


def random_dictionary(
    atoms: int, size: Sequence[int] | int, seed: int = 0, *, channels: int = 1, precision: Precision = "f32"
) -> Array:
    """Generate unit-norm atoms of independent normal values; the same seed gives the same atoms.

    Examples
    --------
    >>> import lobcod
    >>> lobcod.random_dictionary(5, (8, 8)).shape, lobcod.random_dictionary(5, 16, channels=2).shape
    ((5, 8, 8), (5, 2, 16))
    """
    count, box = WHOLE.check("atoms", atoms), BOX.check("size", size)
    return _lobcod.random_atoms(count, list(box), channels, WHOLE.check("seed", seed), precision_of(precision))


def cosine_dictionary(atoms: int, size: Sequence[int] | int, *, channels: int = 1, precision: Precision = "f32") -> Array:
    """Generate atoms that are products of cosines of increasing frequency, the constant first.

    Examples
    --------
    >>> import lobcod
    >>> lobcod.cosine_dictionary(81, (8, 8)).shape
    (81, 8, 8)
    """
    count, box = WHOLE.check("atoms", atoms), BOX.check("size", size)
    return _lobcod.cosine_atoms(count, list(box), channels, precision_of(precision))


def load_dictionary(path: str | os.PathLike[str], precision: Precision = "f32") -> Array:
    """Read the atoms of a ``.npy`` file, or of a ``.npz`` file written by :func:`save_dictionary` or ``lobcod learn``."""
    return _lobcod.read_atoms(os.fspath(path), precision_of(precision))[0]


def save_dictionary(
    path: str | os.PathLike[str], dictionary: ArrayLike, axes: Axes | None = None, **metadata: str | float
) -> None:
    """Write atoms to a ``.npy`` or ``.npz`` file that the command line reads, with metadata (``.npz``) on how they were learnt.

    `axes` names the axes: ``mt``, ``mct``, ``mhw``, ``mchw``, ``mdhw`` or ``mcdhw`` (m atoms, c channels). It is optional for
    2 axes (``mt``), 3 axes with square atoms (``mhw``), 4 axes with 3 channels (``mchw``) and 5 axes (``mcdhw``); other shapes
    are ambiguous and raise ``ValueError`` without `axes`. A ``.npy`` file stores the array without the names of its axes.

    Examples
    --------
    >>> import lobcod, numpy as np, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "atoms.npz")
    ...     lobcod.save_dictionary(file, lobcod.embedded_dictionary(), remark="as embedded")
    ...     np.array_equal(lobcod.load_dictionary(file), lobcod.embedded_dictionary())
    True
    """
    atoms = readable(dictionary, "the dictionary")
    path = os.fspath(path)
    names: str | None = axes
    if names is None:
        names = {2: "mt", 3: "mhw", 4: "mchw"}.get(atoms.ndim, "mcdhw") if path.endswith(".npy") else _axes_of(atoms.shape)
    ranks = {"mt": 1, "mct": 1, "mhw": 2, "mchw": 2, "mdhw": 3, "mcdhw": 3}
    if names not in ranks or len(names) != atoms.ndim:
        raise ValueError(f"axes is {names!r}, but a dictionary of shape {atoms.shape} needs one of {_readings(atoms.ndim)}")
    precision = precision_of(None, atoms.dtype)
    _lobcod.write_atoms(path, atoms, ranks[names], list(metadata.items()), precision)


def _readings(ndim: int) -> str:
    """Return the possible meanings of this number of axes."""
    names = {2: ("mt",), 3: ("mhw", "mct"), 4: ("mchw", "mdhw"), 5: ("mcdhw",)}
    if ndim not in names:
        raise ValueError(f"a dictionary has 2 to 5 axes, not {ndim}; reshape it")
    return " or ".join(f'"{name}"' for name in names[ndim])


def _axes_of(shape: tuple[int, ...]) -> str:
    """Return the axes of a dictionary of this shape; ``ValueError`` if they are ambiguous."""
    readings = _readings(len(shape))
    if len(shape) == 3 and shape[1] == shape[2]:
        return "mhw"
    if len(shape) == 4 and shape[1] == 3:
        return "mchw"
    if " or " in readings:
        raise ValueError(f"a dictionary of shape {shape} is ambiguous; pass axes={readings}")
    return readings.strip('"')


def from_sporco(dictionary: ArrayLike, dimN: int | None = None) -> Array:
    """Convert atoms from SPORCO's layout: spatial axes, channels if any, atoms; each atom is scaled to unit norm.

    `dimN` is SPORCO's number of spatial axes (1, 2 or 3). It is optional for ``(t, m)`` and, as in SPORCO, for ``(h, w, m)``;
    other arrays are ambiguous and raise ``ValueError`` without it. SPORCO's internal layout, with an axis of length
    1 before the last, is accepted too. Both packages sum atoms as true convolutions, so they are not flipped.

    Examples
    --------
    >>> import lobcod, numpy as np
    >>> lobcod.from_sporco(np.ones((8, 6, 20))).shape, lobcod.from_sporco(np.ones((8, 6, 3, 20)), dimN=2).shape
    ((20, 8, 6), (20, 3, 8, 6))
    >>> lobcod.from_sporco(np.ones((8, 6, 5, 20)), dimN=3).shape, lobcod.from_sporco(np.ones((32, 20))).shape
    ((20, 8, 6, 5), (20, 32))
    """
    given = readable(dictionary, "the dictionary")
    if dimN is None:
        if given.ndim not in (2, 3):
            raise ValueError(
                f"a SPORCO dictionary of shape {given.shape} is ambiguous; pass dimN, its number of spatial axes (1, 2 or 3)"
            )
        dimN = given.ndim - 1
    if dimN not in (1, 2, 3) or not dimN + 1 <= given.ndim <= dimN + 3:
        raise ValueError(f"dimN is {dimN}, but a dictionary of shape {given.shape} does not have 1 to 3 axes beyond it")
    if given.ndim == dimN + 3:
        if given.shape[-2] != 1:
            raise ValueError(f"the last axis but one of a SPORCO dictionary {given.shape} is that of signals, and must be 1")
        given = given[..., 0, :]
        if given.shape[-2] == 1:
            given = given[..., 0, :]
    return _unit(np.moveaxis(given, range(given.ndim), _sporco_order(given.ndim, dimN)))


def to_sporco(dictionary: ArrayLike, dimN: int | None = None) -> Array:
    """Convert atoms to SPORCO's layout: ``(t, m)``, ``(h, w, m)`` or ``(h, w, t, m)``, with channels before the last axis.

    `dimN` is the number of spatial axes. It is optional for ``(m, t)``, ``(m, h, w)`` and ``(m, 3, h, w)``.

    Examples
    --------
    >>> import lobcod
    >>> lobcod.to_sporco(lobcod.embedded_dictionary("natural-rgb-8x8-96")).shape
    (8, 8, 3, 96)
    >>> lobcod.to_sporco(lobcod.random_dictionary(25, 32, channels=4), dimN=1).shape
    (32, 4, 25)
    """
    given = readable(dictionary, "the dictionary")
    if dimN is None:
        dimN = 2 if given.ndim == 3 else len(_axes_of(given.shape).strip("mc"))
    if dimN not in (1, 2, 3) or given.ndim - dimN not in (1, 2):
        raise ValueError(f"dimN is {dimN}, but a dictionary of shape {given.shape} does not have 1 or 2 axes beyond it")
    return np.ascontiguousarray(given.transpose(_sporco_order(given.ndim, dimN)))


def _sporco_order(ndim: int, spatial: int) -> list[int]:
    """Return the permutation from SPORCO's axes: spatial axes, channels, atoms."""
    return [*range(ndim - spatial, ndim), *range(1, ndim - spatial), 0]


def from_alphacsc(dictionary: ArrayLike, n_channels: int | None = None) -> Array:
    """Convert atoms from alphacsc's layouts; each is scaled to unit norm.

    ``(m, c, t)`` are atoms as they are. ``(m, c + t)`` are rank-1 atoms, the spatial pattern ``u`` before the waveform ``v``;
    they need `n_channels`, for an array of two axes could as well hold atoms of one channel (give those as ``(m, 1, t)``). One
    channel loses its axis, so that the atoms fit signals without channels, and code each channel of others separately.

    Examples
    --------
    >>> import lobcod, numpy as np
    >>> lobcod.from_alphacsc(np.ones((25, 4, 32))).shape, lobcod.from_alphacsc(np.ones((25, 1, 32))).shape
    ((25, 4, 32), (25, 32))
    >>> lobcod.from_alphacsc(np.ones((25, 36)), n_channels=4).shape
    (25, 4, 32)
    """
    given = readable(dictionary, "the dictionary")
    if given.ndim not in (2, 3):
        raise ValueError(f"an alphacsc dictionary has the shape (m, c, t) or (m, c + t), not {given.shape}; reshape it")
    if given.ndim == 2:
        if n_channels is None:
            raise ValueError(
                f"a dictionary of shape {given.shape} can be rank-1 atoms (m, c + t) or atoms (m, t) of one channel; "
                "pass n_channels, or reshape it to (m, 1, t)"
            )
        if not 1 <= n_channels < given.shape[1]:
            raise ValueError(f"n_channels is {n_channels}, but must be from 1 to {given.shape[1] - 1} for atoms of {given.shape}")
        given = given[:, :n_channels, None] * given[:, None, n_channels:]
    elif n_channels not in (None, given.shape[1]):
        raise ValueError(f"n_channels is {n_channels}, but the dictionary {given.shape} has {given.shape[1]} channels")
    return _unit(given[:, 0] if given.shape[1] == 1 else given)


def to_alphacsc(dictionary: ArrayLike) -> Array:
    """Convert atoms ``(m, t)`` or ``(m, c, t)`` to alphacsc's layout, ``(m, c, t)``."""
    given = readable(dictionary, "the dictionary")
    if given.ndim == 2:
        return np.ascontiguousarray(given[:, None])
    if given.ndim == 3:
        return np.ascontiguousarray(given)
    raise ValueError(f"a dictionary for alphacsc has the shape (m, t) or (m, c, t), not {given.shape}; reshape it")


def _unit(atoms: Array) -> Array:
    norms = np.sqrt((atoms.astype(np.float64) ** 2).sum(axis=tuple(range(1, atoms.ndim)), keepdims=True))
    if not np.all(np.isfinite(norms) & (norms > 0)):
        raise ValueError("an atom of the dictionary is all zeros, or is NaN or infinite; remove it")
    return np.ascontiguousarray(atoms / norms, dtype=np.result_type(atoms.dtype, np.float32))
