"""Dictionary learning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from . import _lobcod
from ._arrays import Array, Image, precision_of, read_image, warn_of_colour
from ._described import described
from ._html import atoms_image, objective_curve, panel
from ._options import atoms_for, set_penalty, set_sizes, threads_for
from ._progress import watching
from ._public import public
from ._report import LearnReport


@described
class LearnResult(NamedTuple):
    """A learnt dictionary and the report on how it was learnt."""

    dictionary: Annotated[Array, "Atoms of unit norm, ``(m, h, w)``; ``(m, c, h, w)`` if the images have channels."]
    report: Annotated[LearnReport, "The report of the learner."]

    @property
    def u(self) -> Array:
        """The unit vectors over the channels of atoms of rank 1, ``(m, c)``; ``ValueError`` if an atom has a higher rank."""
        return factors(self.dictionary)[0]

    @property
    def v(self) -> Array:
        """The unit patterns of atoms of rank 1, ``(m, t)``, ``(m, h, w)`` or ``(m, d, h, w)``."""
        return factors(self.dictionary)[1]

    def __repr__(self) -> str:
        return f"LearnResult(dictionary=<{' x '.join(map(str, self.dictionary.shape))} atoms>, report={self.report!r})"

    def _repr_html_(self) -> str:
        return panel(repr(self), atoms_image(self.dictionary), objective_curve(self.report.history))


@public("learn")
def learn(images: Any, **options: Any) -> LearnResult:
    """Learn a dictionary from images, which may have missing samples.

    Minimises the objective of :func:`encode`, summed over the images, with respect to both codes and dictionary.

    {parameters}

    Returns
    -------
    LearnResult
        ``dictionary`` and ``report``; the report's ``status`` is ``"completed"`` if all passes were run.

    Examples
    --------
    >>> import lobcod
    >>> image = lobcod.still_life(64).mean(axis=-1)
    >>> dictionary, report = lobcod.learn([image], atoms=16, size=(5, 5), passes=3)
    >>> dictionary.shape, report.passes
    ((16, 5, 5), 3)
    >>> report.objective < report.history[0].objective
    True
    """
    set_penalty(options)
    set_sizes(options)
    if not isinstance(options["init"], str):
        options["size"] = tuple(np.shape(options["init"])[-len(options["size"]) :])
    found = read_images(images, options, options["masks"])
    options["precision"] = precision_of(options["precision"], *(image.dtype for image in found))
    options["threads"] = threads_for(options["threads"], sum(image.array.size for image in found))
    first = first_atoms(found, options)
    options["frozen"] = len(first) - options["atoms"]
    with watching(options["progress"]) as options["callback"]:
        learnt = _lobcod.learn([image.fields() for image in found], first, found[0].rank, options)
    return LearnResult(learnt["dictionary"], LearnReport._from(learnt["report"]))


def read_images(images: Any, options: dict[str, Any], masks: Sequence[Any] | None = None) -> list[Image]:
    """Return the training images as a list, given a sequence, a stack or a single image."""
    rank, axis = len(options["size"]), options["channel_axis"]
    if hasattr(images, "ndim"):
        if isinstance(options["init"], str):
            warn_of_colour(images.shape, axis, "the array")
        if images.ndim == rank + isinstance(axis, int):
            images = [images]
    images = list(images)
    if not images:
        raise ValueError("there are no images to learn from")
    if masks is not None and len(masks) != len(images):
        raise ValueError(f"got {len(masks)} masks for {len(images)} images; pass one for each")
    found = [read_image(image, axis, None if masks is None else masks[i], axes_known=True) for i, image in enumerate(images)]
    for image in found:
        if image.rank != rank:
            raise ValueError(
                f"the atoms have {rank} axes, but an image has {image.rank}; "
                "pass a size with that many numbers, or set channel_axis"
            )
    return found


def factors(dictionary: Array) -> tuple[Array, Array]:
    """Return unit vectors `u` over the channels and unit patterns `v` whose products are the atoms."""
    if dictionary.ndim < 3:
        raise ValueError("the atoms have no channels, so they have no factors")
    count, channels, *size = dictionary.shape
    u, s, v = np.linalg.svd(dictionary.reshape(count, channels, -1), full_matrices=False)
    if s.shape[1] > 1 and s[:, 1].max() > 1e-4:
        raise ValueError("an atom has a rank above 1; learn with rank=1")
    u, v = u[:, :, 0], v[:, 0]
    sign = np.sign(np.take_along_axis(u, np.abs(u).argmax(axis=1, keepdims=True), axis=1))
    return u * sign, (v * sign).reshape(count, *size)


def first_atoms(images: list[Image], options: dict[str, Any]) -> Array:
    """Return the initial atoms, after the frozen ones, and set their number `atoms`; generated ones span all channels."""
    first, freeze = _free_atoms(images, options), options["freeze"]
    options["atoms"] = len(first)
    if freeze is None:
        return first
    frozen = np.asarray(atoms_for(freeze, images[0].rank, options["precision"]))
    if frozen.shape[1:] != first.shape[1:]:
        raise ValueError(
            f"the frozen atoms have the shape {frozen.shape[1:]}, but those to learn {first.shape[1:]}; "
            "pass the size of the frozen ones"
        )
    return np.concatenate([frozen, np.asarray(first)])


def _free_atoms(images: list[Image], options: dict[str, Any]) -> Array:
    init, atoms, seed, precision = options["init"], options["atoms"], options["seed"], options["precision"]
    channels, size = images[0].channels, list(options["size"])
    if not isinstance(init, str):
        return atoms_for(init, images[0].rank, precision)
    if init == "random":
        return _lobcod.random_atoms(atoms, size, channels, seed, precision)
    if init == "dct":
        return _lobcod.cosine_atoms(atoms, size, channels, precision)
    if init == "patches":
        return _lobcod.patch_atoms([image.fields() for image in images], options["base"], atoms, size, seed, precision)
    raise ValueError(f"init is {init}, but must be random, patches, dct or an array of atoms")
