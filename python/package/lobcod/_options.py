"""Options shared by several functions, in the form the extension expects."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _lobcod
from ._arrays import Array, readable
from ._table import DEFAULTS
from ._warnings import warn


def set_penalty(options: dict[str, Any]) -> None:
    """Set the default if no penalty is given."""
    if options["penalty"] is not None and options["relative_penalty"] is not None:
        raise ValueError("penalty and relative_penalty are both given; remove one")
    if options["relative_penalty"] is None:
        options["relative_penalty"] = DEFAULTS["relative_penalty"]


def set_sizes(options: dict[str, Any]) -> None:
    """Set the box of all atoms, and the size of each where they have several."""
    options["sizes"] = []
    if not isinstance(options["size"], list):
        if options["atoms"] is None:
            options["atoms"] = DEFAULTS["learn"]["atoms"]
        return
    pairs = options["size"]
    total = sum(count for _, count in pairs)
    if len({len(size) for size, _ in pairs}) > 1:
        raise ValueError("the sizes of the atoms have different numbers of axes")
    if options["atoms"] not in (None, total):
        raise ValueError(f"atoms is {options['atoms']}, but size has {total} atoms; remove atoms")
    options["atoms"] = total
    options["size"] = tuple(max(lengths) for lengths in zip(*(size for size, _ in pairs), strict=True))
    if len(pairs) > 1:
        options["sizes"] = [list(size) for size, count in pairs for _ in range(count)]


def threads_for(threads: int, samples: int) -> int:
    """Return the number of threads for this many samples; 0 chooses by size, -1 uses all cores."""
    return _lobcod.thread_count(threads, samples)


def usual_size(rank: int) -> tuple[int, ...]:
    """Return the default atom size for signals with this many axes."""
    return {1: (16,), 2: (8, 8)}.get(rank, (5, 5, 5))


def atoms_for(dictionary: Any, rank: int, precision: str) -> Array:
    """Return unit-norm atoms for signals with this many axes: given, built-in by name, or default (``None``)."""
    if dictionary is None:
        dictionary = "natural" if rank == 2 else "dct"
    if isinstance(dictionary, str):
        if dictionary == "dct":
            size = usual_size(rank)
            count = int(np.prod([n + 1 for n in size]))
            return _lobcod.cosine_atoms(count, list(size), 1, precision)
        dictionary = _lobcod.embedded_atoms(dictionary)
    given = readable(dictionary, "the dictionary")
    atoms, changed = _lobcod.normalised_atoms(given, rank, precision)
    if changed:
        warn(f"{changed} of the {len(atoms)} atoms of the dictionary did not have unit norm and were normalised")
    return atoms
