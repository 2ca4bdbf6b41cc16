"""Learning: the dictionary as well as the codes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _lobcod
from ._arrays import Array, Picture, picture, precision_of
from ._options import atoms_for, path_of, penalty_options, run_options, running
from ._progress import Watcher
from ._report import LearnReport


class LearnResult(NamedTuple):
    """A learnt dictionary, and how it was learnt."""

    dictionary: Array
    """Atoms of unit norm, ``(m, h, w)``; ``(m, c, h, w)`` where images have channels."""
    report: LearnReport
    """What the learner says."""


def learn(
    images: Any,
    atoms: int = 81,
    size: Sequence[int] | int = (8, 8),
    penalty: float | None = None,
    method: str = "atomwise",
    seed: int = 0,
    *,
    relative_penalty: float | None = None,
    masks: Sequence[Any] | None = None,
    init: Any = "random",
    passes: int = 40,
    step: str | None = None,
    step_size: float | None = None,
    decay: str | None = None,
    rounds: int = 6,
    target_objective: float | None = None,
    base: str = "local-mean",
    border: str = "free",
    channel_axis: int | None = None,
    tolerance: float = 1e-3,
    precision: str | None = None,
    threads: int = 0,
    engine: str = "cpu",
    time_limit: float | None = None,
    max_memory: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    progress: Watcher = None,
) -> LearnResult:
    """Learns a dictionary from images, damaged ones too.

    Minimises the objective of :func:`encode`, summed over the images, over codes *and* dictionary.

    Parameters
    ----------
    images : sequence of arrays, or array
        Images as :func:`encode` takes them, of any sizes; an array of images of one size, or one image.
    atoms : int
        Number of atoms.
    size : sequence of int
        Box of an atom, channels not counted: ``(8, 8)``, ``16`` for signals, ``(5, 5, 5)`` for volumes.
    penalty, relative_penalty : float, optional
        As for :func:`encode`; ``penalty_max`` is that of the first atoms.
    method : {"atomwise", "stochastic", "batch"}
        Way to learn: atom after atom, by Algorithm 2 of the paper, or by projected steepest descent.
    seed : int
        Seed of all that is drawn at random.
    masks : sequence of arrays, optional
        One for each image: True or 1 = observed.
    init : {"random", "patches", "dct"} or array
        First atoms; an array decides their number and size, and `size` only how many axes they have.
    passes : int
        Passes over all images.
    step, step_size, decay : optional
        Rule, length and shrinking of the steps of method ``"stochastic"``: ``"paper"``, ``"sgd"``, ``"sgd-literal"``,
        ``"momentum"``, ``"adagrad"``, ``"adadelta"`` or ``"adam"``; ``"none"``, ``"online:N"`` or ``"exponential:F"``.
    rounds : int
        Times codes and atoms alternate in a pass of method ``"atomwise"``.
    target_objective : float, optional
        Objective at which the learning ends.
    tolerance : float
        Relative duality gap of the pursuit that ends the learning.
    base, border, channel_axis, precision, threads, engine, time_limit, max_memory, checkpoint, resume, progress
        As for :func:`encode`.

    Returns
    -------
    LearnResult
        ``dictionary`` and ``report``.

    Examples
    --------
    >>> import lobcod
    >>> picture = lobcod.still_life(64).mean(axis=-1)
    >>> dictionary, report = lobcod.learn([picture], atoms=16, size=(5, 5), passes=3)
    >>> dictionary.shape, report.passes
    ((16, 5, 5), 3)
    >>> report.objective < report.history[0].objective
    True
    """
    extent = tuple(int(n) for n in np.atleast_1d(np.asarray(size)))
    if not isinstance(init, str):
        extent = tuple(np.shape(init)[-len(extent) :])
    given = pictures(images, len(extent), channel_axis, masks)
    precision = precision_of(precision, *(image.dtype for image in given))
    first = first_atoms(init, given, atoms, extent, base, seed, precision)
    options = learn_options(
        border=border,
        base=base,
        method=method,
        step=step,
        step_size=step_size,
        decay=decay,
        passes=passes,
        rounds=rounds,
        target_objective=target_objective,
        seed=seed,
        checkpoint=checkpoint,
        resume=resume,
    )
    penalties = penalty_options(penalty, relative_penalty)
    limits = run_options(precision, tolerance, time_limit, threads, engine, max_memory)
    with running(limits, progress, passes=passes) as run:
        learnt = _lobcod.learn([image.given() for image in given], first, given[0].rank, penalties, options, run)
    return LearnResult(learnt["dictionary"], LearnReport._from(learnt["report"]))


def pictures(images: Any, rank: int, channel_axis: int | None, masks: Sequence[Any] | None = None) -> list[Picture]:
    """The images to learn from: a sequence, a stack, or one alone."""
    if isinstance(images, np.ndarray) and images.ndim == rank + (channel_axis is not None):
        images = [images]
    images = list(images)
    if not images:
        raise ValueError("there is no image to learn from")
    if masks is not None and len(masks) != len(images):
        raise ValueError(f"there are {len(masks)} masks for {len(images)} images; give one for each")
    found = [picture(image, channel_axis, None if masks is None else masks[i]) for i, image in enumerate(images)]
    for image in found:
        if image.rank != rank:
            raise ValueError(
                f"the atoms have {rank} axes, but an image has {image.rank}; "
                "give size as many numbers, or name the axis of channels with channel_axis"
            )
    return found


def first_atoms(init: Any, images: list[Picture], atoms: int, size: Sequence[int], base: str, seed: int, precision: str) -> Array:
    """The atoms that learning starts from; those that are made span all channels."""
    channels, size = images[0].channels, list(size)
    if not isinstance(init, str):
        return atoms_for(init, images[0].rank, precision)
    if init == "random":
        return _lobcod.random_atoms(atoms, size, channels, seed, precision)
    if init == "dct":
        return _lobcod.cosine_atoms(atoms, size, channels, precision)
    if init == "patches":
        return _lobcod.patch_atoms([image.given() for image in images], base, atoms, size, seed, precision)
    raise ValueError(f"init is {init}, but must be random, patches, dct or an array of atoms")


def learn_options(
    *,
    border: str,
    base: str,
    seed: int,
    method: str = "atomwise",
    step: str | None = None,
    step_size: float | None = None,
    decay: str | None = None,
    passes: int = 40,
    rounds: int = 6,
    stream_memory: int = 32,
    target_objective: float | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """What belongs to learning alone, as the extension takes it."""
    return {
        "border": border,
        "base": base,
        "method": method,
        "step": step,
        "step_size": step_size,
        "decay": decay,
        "passes": passes,
        "rounds": rounds,
        "stream_memory": stream_memory,
        "target_objective": target_objective,
        "seed": seed,
        "checkpoint": path_of(checkpoint),
        "resume": path_of(resume),
    }
