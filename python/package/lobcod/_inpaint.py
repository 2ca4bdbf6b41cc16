"""Inpainting: an image without its holes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from . import _lobcod
from ._arrays import Array, picture, precision_of
from ._options import atoms_for, run_options, running
from ._progress import Watcher
from ._report import InpaintReport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._typing import InpaintOptions

_PRESETS: dict[str, dict[str, Any]] = {
    "fast": {"learn": "none", "windows": (1.0,), "density": 1.0},
    "standard": {"learn": "none", "windows": (1.0,), "density": 0.5},
    "best": {"learn": "image", "windows": (1.0, 0.5), "density": 0.5},
}


@overload
def inpaint(image: Any, known: Any = ..., *, return_report: Literal[False] = ..., **options: Unpack[InpaintOptions]) -> Array: ...
@overload
def inpaint(
    image: Any, known: Any = ..., *, return_report: Literal[True], **options: Unpack[InpaintOptions]
) -> tuple[Array, InpaintReport]: ...
def inpaint(
    image: Any,
    known: Any = None,
    *,
    dictionary: Any = None,
    penalty: float | str | None = None,
    learn: str | None = None,
    preset: str = "standard",
    refit_known: bool = False,
    variants: int | None = None,
    windows: Sequence[float] | None = None,
    density: float | None = None,
    held_out: float = 0.02,
    seed: int = 0,
    channel_axis: int | None = None,
    precision: str | None = None,
    threads: int = 0,
    engine: str = "cpu",
    time_limit: float | None = None,
    max_memory: int | None = None,
    progress: Watcher = None,
    return_report: bool = False,
) -> Array | tuple[Array, InpaintReport]:
    """Fills what is missing in an image.

    The image is its local mean plus ``sum_i P_i^T D a_i``, fitted to the known samples alone; the penalty is chosen by known
    samples that are held out. Missing samples are never read.

    Parameters
    ----------
    image : array
        Image as :func:`encode` takes it; NaN samples are missing.
    known : array, optional
        True or 1 = observed; of the shape of the image, channels may be left out. Default: all but NaN samples.
    dictionary : array, str, or a list of them, optional
        Atoms as for :func:`encode`; the answers of several dictionaries are averaged.
    penalty : float or "auto", optional
        Penalty the codes end at, in units of the image. Default: chosen by held-out samples.
    learn : {"none", "image"}, optional
        Also learn the atoms on the damaged image. Default: by the preset.
    preset : {"fast", "standard", "best"}
        What the options below are when they are not given.
    refit_known : bool
        Known samples are those of the fit too, instead of staying as they are.
    variants, windows, density, held_out : optional
        Mirrored copies of every dictionary; windows of the base layer in lengths of an atom, whose answers are averaged; penalty
        of the dense first codes in standard deviations of the details; share of known samples that is held out.
    seed : int
        Seed of the choice of held-out samples.
    return_report : bool
        Return the report as well.
    channel_axis, precision, threads, engine, time_limit, max_memory, progress
        As for :func:`encode`.

    Returns
    -------
    array, or (array, InpaintReport)
        The filled image, of the type of `image`.

    Examples
    --------
    >>> import lobcod, numpy as np
    >>> picture = lobcod.still_life(64).mean(axis=-1)
    >>> known = np.random.default_rng(0).random(picture.shape) < 0.5
    >>> filled = lobcod.inpaint(np.where(known, picture, 0), known)
    >>> bool(abs(filled - picture).mean() < 8) and np.array_equal(filled[known], picture[known])
    True
    """
    if preset not in _PRESETS:
        raise ValueError(f"the preset is {preset}, but must be fast, standard or best")
    usual = _PRESETS[preset]
    learning = usual["learn"] if learn is None else learn
    if learning not in ("none", "image"):
        raise ValueError(f"learn is {learning}, but must be none or image")
    if isinstance(penalty, str) and penalty != "auto":
        raise ValueError(f"the penalty is {penalty}, but must be auto or a number above 0")
    given = picture(image, channel_axis, known)
    precision = precision_of(precision, given.dtype)
    if dictionary is None and preset == "best" and given.rank == 2:
        dictionary = ["natural-12x12-128", "natural"]
    several = dictionary if isinstance(dictionary, (list, tuple)) else [dictionary]
    options = {
        "penalty": None if penalty is None or isinstance(penalty, str) else float(penalty),
        "learn": learning == "image",
        # Who has the time to learn has the time for a second copy, whose answer helps more surely than a learnt one.
        "variants": variants if variants is not None else 2 if learning == "image" else 1,
        "windows": [float(w) for w in (usual["windows"] if windows is None else windows)],
        "density": float(usual["density"] if density is None else density),
        "held_out": float(held_out),
        "seed": seed,
    }
    observed = np.ones(given.shape, np.bool_) if given.known is None else given.known
    atoms = [atoms_for(one, given.rank, precision) for one in several]
    limits = run_options(precision, 1e-3, time_limit, threads, engine, max_memory)
    with running(limits, progress) as run:
        answer = _lobcod.inpaint(given.array, given.has_channels, observed, atoms, options, run)
    filled = given.restore(answer["fit" if refit_known else "picture"])
    if not return_report:
        return filled
    told = {**answer["report"], "fit": given.as_float(answer["fit"]), "dictionary": answer["learnt"]}
    return filled, InpaintReport._from(told)
