"""Options that several functions share, as the extension takes them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from . import _lobcod
from ._arrays import Array, readable
from ._progress import Watcher, watching

USUAL_PENALTY = 0.05
"""Share of penalty_max that serves when no penalty is given."""


def penalty_options(penalty: float | None, relative_penalty: float | None) -> dict[str, Any]:
    """The penalty asked for."""
    if penalty is not None and relative_penalty is not None:
        raise ValueError("penalty and relative_penalty are both given; leave one out")
    share = USUAL_PENALTY if relative_penalty is None else relative_penalty
    return {"penalty": None if penalty is None else float(penalty), "relative_penalty": float(share)}


def run_options(
    precision: str, tolerance: float, time_limit: float | None, threads: int, engine: str, max_memory: int | None
) -> dict[str, Any]:
    """What all kinds of long work are told; nobody watches."""
    return {
        "precision": precision,
        "tolerance": float(tolerance),
        "time_limit": None if time_limit is None else float(time_limit),
        "threads": threads,
        "engine": engine,
        "max_memory": max_memory,
        "callback": None,
    }


@contextmanager
def running(options: dict[str, Any], progress: Watcher, passes: int | None = None) -> Iterator[dict[str, Any]]:
    """The same options, with somebody who watches."""
    with watching(progress, passes) as callback:
        yield {**options, "callback": callback}


def path_of(path: str | os.PathLike[str] | None) -> str | None:
    """A path as text."""
    return None if path is None else os.fspath(path)


def usual_size(rank: int) -> tuple[int, ...]:
    """Box of made atoms for signals with that many axes."""
    return {1: (16,), 2: (8, 8)}.get(rank, (5, 5, 5))


def atoms_for(dictionary: Any, rank: int, precision: str) -> Array:
    """Unit atoms for signals with that many axes: given ones, embedded ones by name, or the usual ones (``None``)."""
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
        warnings.warn(
            f"{changed} of the {len(atoms)} atoms of the dictionary were not of unit norm and were normalised", stacklevel=3
        )
    return atoms
