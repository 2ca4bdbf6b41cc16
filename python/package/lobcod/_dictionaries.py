"""Dictionaries: embedded ones, files, and the layouts of other packages."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _lobcod
from ._arrays import Array, precision_of, readable

EMBEDDED = ("natural", "natural-12x12-128", "natural-rgb-8x8-96")
"""Names of the embedded dictionaries."""


def embedded_dictionary(name: str = "natural") -> Array:
    """A dictionary that comes with the package, learnt from photographs less their local mean.

    ``"natural"``: 81 atoms of 8x8; ``"natural-12x12-128"``: 128 atoms of 12x12; ``"natural-rgb-8x8-96"``: 96 atoms of 8x8 that
    span red, green and blue.

    >>> import lobcod
    >>> lobcod.embedded_dictionary().shape, lobcod.embedded_dictionary("natural-rgb-8x8-96").shape
    ((81, 8, 8), (96, 3, 8, 8))
    """
    return _lobcod.embedded_atoms(name)


def random_dictionary(
    atoms: int, size: Sequence[int] | int, seed: int = 0, *, channels: int = 1, precision: str = "f32"
) -> Array:
    """Atoms of independent normal numbers, of unit norm; the same seed gives the same atoms.

    >>> import lobcod
    >>> lobcod.random_dictionary(5, (8, 8)).shape, lobcod.random_dictionary(5, 16, channels=2).shape
    ((5, 8, 8), (5, 2, 16))
    """
    return _lobcod.random_atoms(atoms, _box(size), channels, seed, precision_of(precision))


def cosine_dictionary(atoms: int, size: Sequence[int] | int, *, channels: int = 1, precision: str = "f32") -> Array:
    """Atoms that are products of cosines of growing frequency, the constant first.

    >>> import lobcod
    >>> lobcod.cosine_dictionary(81, (8, 8)).shape
    (81, 8, 8)
    """
    return _lobcod.cosine_atoms(atoms, _box(size), channels, precision_of(precision))


def _box(size: Sequence[int] | int) -> list[int]:
    return [int(n) for n in np.atleast_1d(np.asarray(size))]


def load_dictionary(path: str | os.PathLike[str], precision: str = "f32") -> Array:
    """Reads the atoms of a ``.npy`` file, or of a ``.npz`` file written by :func:`save_dictionary` or ``lobcod learn``."""
    return _lobcod.read_atoms(os.fspath(path), precision_of(precision))[0]


def save_dictionary(path: str | os.PathLike[str], dictionary: Any, axes: str | None = None, **remarks: Any) -> None:
    """Writes atoms to a ``.npy`` or ``.npz`` file that the command line reads, with remarks (``.npz``) on how they were made.

    `axes` names the axes where their number does not: by default 2 are ``mt``, 3 ``mhw``, 4 ``mchw`` and 5 ``mcdhw``.

    >>> import lobcod, numpy as np, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "atoms.npz")
    ...     lobcod.save_dictionary(file, lobcod.embedded_dictionary(), remark="as embedded")
    ...     np.array_equal(lobcod.load_dictionary(file), lobcod.embedded_dictionary())
    True
    """
    atoms = readable(dictionary, "the dictionary")
    names = {2: "mt", 3: "mhw", 4: "mchw", 5: "mcdhw"}
    axes = names.get(atoms.ndim, "") if axes is None else axes
    ranks = {"mt": 1, "mct": 1, "mhw": 2, "mchw": 2, "mdhw": 3, "mcdhw": 3}
    if axes not in ranks or len(axes) != atoms.ndim:
        raise ValueError(f"atoms of shape {atoms.shape} do not fit the axes {axes or 'of any kind'}; name them, as in mhw")
    precision = precision_of(None, atoms.dtype)
    _lobcod.write_atoms(os.fspath(path), atoms, ranks[axes], list(remarks.items()), precision)


def from_sporco(dictionary: Any) -> Array:
    """Atoms from SPORCO's layout: ``(h, w, m)``, or ``(h, w, c, m)`` with channels; each is scaled to unit norm.

    Both packages add atoms up as true convolutions, so they are not flipped.

    >>> import lobcod, numpy as np
    >>> lobcod.from_sporco(np.ones((8, 6, 20))).shape, lobcod.from_sporco(np.ones((8, 6, 3, 20))).shape
    ((20, 8, 6), (20, 3, 8, 6))
    """
    given = readable(dictionary, "the dictionary")
    if given.ndim == 3:
        return _unit(given.transpose(2, 0, 1))
    if given.ndim == 4:
        return _unit(given.transpose(3, 2, 0, 1))
    raise ValueError(f"a dictionary of SPORCO is (h, w, m) or (h, w, c, m), not {given.shape}; reshape it")


def to_sporco(dictionary: Any) -> Array:
    """Atoms ``(m, h, w)`` or ``(m, c, h, w)`` in SPORCO's layout, ``(h, w, m)`` or ``(h, w, c, m)``."""
    given = readable(dictionary, "the dictionary")
    if given.ndim == 3:
        return np.ascontiguousarray(given.transpose(1, 2, 0))
    if given.ndim == 4:
        return np.ascontiguousarray(given.transpose(2, 3, 1, 0))
    raise ValueError(f"a dictionary for SPORCO is (m, h, w) or (m, c, h, w), not {given.shape}; reshape it")


def from_alphacsc(dictionary: Any) -> Array:
    """Atoms from alphacsc's layout, ``(m, c, t)``, or ``(m, t)`` for one channel; each is scaled to unit norm.

    One channel loses its axis, so the atoms fit signals without channels, and code each channel of others by itself.

    >>> import lobcod, numpy as np
    >>> lobcod.from_alphacsc(np.ones((25, 4, 32))).shape, lobcod.from_alphacsc(np.ones((25, 1, 32))).shape
    ((25, 4, 32), (25, 32))
    """
    given = readable(dictionary, "the dictionary")
    if given.ndim == 3 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim not in (2, 3):
        raise ValueError(f"a dictionary of alphacsc is (m, c, t) or (m, t), not {given.shape}; reshape it")
    return _unit(given)


def to_alphacsc(dictionary: Any) -> Array:
    """Atoms ``(m, t)`` or ``(m, c, t)`` in alphacsc's layout, ``(m, c, t)``."""
    given = readable(dictionary, "the dictionary")
    if given.ndim == 2:
        return np.ascontiguousarray(given[:, None])
    if given.ndim == 3:
        return np.ascontiguousarray(given)
    raise ValueError(f"a dictionary for alphacsc is (m, t) or (m, c, t), not {given.shape}; reshape it")


def _unit(atoms: Array) -> Array:
    norms = np.sqrt((atoms.astype(np.float64) ** 2).sum(axis=tuple(range(1, atoms.ndim)), keepdims=True))
    if not np.all(np.isfinite(norms) & (norms > 0)):
        raise ValueError("an atom of the dictionary is all zeros or not finite; remove it")
    return np.ascontiguousarray(atoms / norms, dtype=np.result_type(atoms.dtype, np.float32))
