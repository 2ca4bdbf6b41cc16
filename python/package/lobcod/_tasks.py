"""Whole tasks: inpainting, denoising, separation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from . import _lobcod
from ._arrays import Array, picture, precision_of
from ._options import atoms_for, penalty_options, run_options
from ._progress import Watcher, watching
from ._report import DenoiseReport, InpaintReport, Report, SeparateReport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._typing import DenoiseOptions, InpaintOptions, SeparateOptions

_PRESETS: dict[str, dict[str, Any]] = {
    "fast": {"learn": "none", "windows": (1.0,), "kept_windows": 1, "density": 1.0},
    "standard": {"learn": "none", "windows": (1.0, 0.5), "kept_windows": 1, "density": 0.5},
    "best": {"learn": "image", "windows": (1.0, 0.5), "kept_windows": 2, "density": 0.5},
}


@overload
def inpaint(image: Any, known: Any = ..., *, return_report: Literal[False] = ..., **options: Unpack[InpaintOptions]) -> Array: ...
@overload
def inpaint(image: Any, known: Any = ..., *, return_report: Literal[True], **options: Unpack[InpaintOptions]) -> tuple[Array, InpaintReport]: ...
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
    kept_windows: int | None = None,
    density: float | None = None,
    held_out: float = 0.02,
    seed: int = 0,
    channel_axis: int | None = None,
    precision: str | None = None,
    threads: int = 0,
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
    variants, windows, kept_windows, density, held_out : optional
        Mirrored copies of every dictionary; windows of the base layer in lengths of an atom and how many of them are kept; penalty
        of the dense first codes in standard deviations of the details; share of known samples that is held out.
    seed : int
        Seed of the choice of held-out samples.
    return_report : bool
        Return the report as well.
    channel_axis, precision, threads, time_limit, max_memory, progress
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
        "kept_windows": usual["kept_windows"] if kept_windows is None else kept_windows,
        "density": float(usual["density"] if density is None else density),
        "held_out": float(held_out),
        "seed": seed,
    }
    observed = np.ones(given.shape, np.bool_) if given.known is None else given.known
    atoms = [atoms_for(one, given.rank, precision) for one in several]
    with watching(progress) as callback:
        run = run_options(
            tolerance=1e-3,
            time_limit=time_limit,
            threads=threads,
            max_memory=max_memory,
            precision=precision,
            callback=callback,
        )
        answer = _lobcod.inpaint(given.array, given.has_channels, observed, atoms, options, run)
    filled = given.restore(answer["fit" if refit_known else "picture"])
    if not return_report:
        return filled
    told = {**answer["report"], "fit": given.as_float(answer["fit"]), "dictionary": answer["learnt"]}
    return filled, InpaintReport._from(told)


@overload
def denoise(image: Any, noise: str = ..., *, return_report: Literal[False] = ..., **options: Unpack[DenoiseOptions]) -> Array: ...
@overload
def denoise(image: Any, noise: str = ..., *, return_report: Literal[True], **options: Unpack[DenoiseOptions]) -> tuple[Array, DenoiseReport]: ...
def denoise(
    image: Any,
    noise: str = "gaussian",
    *,
    sigma: float | None = None,
    gain: float = 1.0,
    share: float | None = None,
    dictionary: Any = None,
    method: str = "local",
    fit_atoms: bool = True,
    scale: float | None = None,
    penalty: float | None = None,
    tolerance: float = 1e-2,
    channel_axis: int | None = None,
    threads: int = 0,
    time_limit: float | None = None,
    max_memory: int | None = None,
    progress: Watcher = None,
    return_report: bool = False,
) -> Array | tuple[Array, DenoiseReport]:
    """Takes noise off an image, grey or with three channels. Works in single precision.

    Parameters
    ----------
    image : array
        Image as :func:`encode` takes it.
    noise : {"gaussian", "poisson", "mixed", "impulse"}
        Kind of noise; its amount may be given in the same word, as on the command line: ``"gaussian:25"``, ``"poisson:2"``,
        ``"mixed:2,5"``, ``"impulse:0.1"``.
    sigma : float, optional
        Standard deviation of gaussian noise (of the read-out of mixed noise). Default: estimated.
    gain : float
        Sample of one count of Poisson noise.
    share : float, optional
        Largest share of samples that impulses hit. Default: found out.
    dictionary : array or str, optional
        Flat atoms of one channel, as for :func:`encode`.
    method : {"local", "convolutional"}
        Patch by patch, or one pursuit of the whole image with its certificate.
    fit_atoms : bool
        Fit the atoms to the noisy image first (local, impulse).
    scale : float, optional
        Sample that stands for white (impulse). Default: the largest one of whole numbers, 255 for other types.
    penalty : float, optional
        Weight of the l1 norm (convolutional, impulse). Default: from the noise.
    tolerance : float
        Relative duality gap of pursuits of the whole image.
    return_report : bool
        Return the report as well.
    channel_axis, threads, time_limit, max_memory, progress
        As for :func:`encode`.

    Returns
    -------
    array, or (array, DenoiseReport)
        The clean image, of the type of `image`.

    Examples
    --------
    >>> import lobcod, numpy as np
    >>> picture = lobcod.still_life(64).mean(axis=-1)
    >>> noisy = picture + 20 * np.random.default_rng(0).standard_normal(picture.shape)
    >>> clean = lobcod.denoise(noisy, sigma=20)
    >>> lobcod.psnr(clean, picture) > lobcod.psnr(noisy, picture) + 3
    True
    """
    noise, sigma, gain, share = _noise(noise, sigma, gain, share)
    given = picture(image, channel_axis)
    if given.known is not None:
        raise ValueError("the image has missing samples; fill them first")
    atoms = atoms_for(dictionary, given.rank, "f32")
    options = {
        "noise": noise,
        "sigma": sigma,
        "gain": gain,
        "share": share,
        "method": method,
        "fit_atoms": fit_atoms,
        "scale": white(given.dtype) if scale is None else float(scale),
        "penalty": penalty,
    }
    with watching(progress) as callback:
        run = run_options(
            tolerance=tolerance,
            time_limit=time_limit,
            threads=threads,
            max_memory=max_memory,
            precision="f32",
            callback=callback,
        )
        answer = _lobcod.denoise(given.array, given.has_channels, atoms, options, run)
    clean = given.restore(answer["picture"])
    if not return_report:
        return clean
    pursuit = answer["report"]["pursuit"]
    told = {**answer["report"], "pursuit": None if pursuit is None else Report._from(pursuit)}
    return clean, DenoiseReport._from(told)


def _noise(noise: str, sigma: float | None, gain: float, share: float | None) -> tuple[str, float | None, float, float | None]:
    """Kind and amounts, some of which may stand behind the kind."""
    kind, _, amounts = noise.partition(":")
    if not amounts:
        return noise, sigma, gain, share
    try:
        numbers = [float(amount) for amount in amounts.split(",")]
    except ValueError:
        numbers = []
    if kind == "gaussian" and len(numbers) == 1:
        return kind, numbers[0], gain, share
    if kind == "poisson" and len(numbers) == 1:
        return kind, sigma, numbers[0], share
    if kind == "mixed" and len(numbers) == 2:
        return kind, numbers[1], numbers[0], share
    if kind == "impulse" and len(numbers) == 1:
        return kind, sigma, gain, numbers[0]
    raise ValueError(
        f"the noise is {noise}, but is written gaussian, gaussian:SIGMA, poisson, poisson:GAIN, mixed:GAIN,SIGMA, impulse "
        "or impulse:SHARE"
    )


def white(dtype: np.dtype[Any]) -> float:
    """Sample that stands for white: the largest whole number, or 255."""
    return float(np.iinfo(dtype).max) if dtype.kind in "ui" else 255.0


@overload
def separate(image: Any, *, return_report: Literal[False] = ..., **options: Unpack[SeparateOptions]) -> tuple[Array, Array]: ...
@overload
def separate(image: Any, *, return_report: Literal[True], **options: Unpack[SeparateOptions]) -> tuple[Array, Array, SeparateReport]: ...
def separate(
    image: Any,
    *,
    dictionary: Any = None,
    penalty: float | None = None,
    relative_penalty: float | None = None,
    smooth: float = 5.0,
    alternations: int = 4,
    tolerance: float = 1e-2,
    channel_axis: int | None = None,
    precision: str | None = None,
    threads: int = 0,
    time_limit: float | None = None,
    max_memory: int | None = None,
    progress: Watcher = None,
    return_report: bool = False,
) -> tuple[Array, Array] | tuple[Array, Array, SeparateReport]:
    """Splits an image into a smooth layer and texture.

    Solves, over the smooth layer ``B`` and the needles ``a_i`` together::

        min   1/2 || Y - B - sum_i P_i^T D a_i ||^2  +  penalty * sum_ik |a_ik|  +  smooth/2 * || grad B ||^2

    Parameters
    ----------
    image : array
        Image as :func:`encode` takes it.
    smooth : float
        Weight of the squared gradient of the smooth layer.
    alternations : int
        Times pursuit and smooth layer take turns.
    tolerance : float
        Relative joint duality gap to reach.
    return_report : bool
        Return the report as a third value.
    dictionary, penalty, relative_penalty, channel_axis, precision, threads, time_limit, max_memory, progress
        As for :func:`encode`.

    Returns
    -------
    (smooth layer, texture), or (smooth layer, texture, SeparateReport)
        In floating point.

    Examples
    --------
    >>> import lobcod
    >>> smooth, texture = lobcod.separate(lobcod.still_life(32).mean(axis=-1), penalty=5)
    >>> smooth.shape, texture.shape
    ((32, 32), (32, 32))
    """
    given = picture(image, channel_axis)
    if given.known is not None:
        raise ValueError("the image has missing samples; fill them first")
    precision = precision_of(precision, given.dtype)
    atoms = atoms_for(dictionary, given.rank, precision)
    penalties = penalty_options(penalty, relative_penalty)
    with watching(progress) as callback:
        run = run_options(
            tolerance=tolerance,
            time_limit=time_limit,
            threads=threads,
            max_memory=max_memory,
            precision=precision,
            callback=callback,
        )
        layers = _lobcod.separate(
            given.array, given.has_channels, atoms, float(smooth), alternations, penalties, run
        )
    base, texture = given.as_float(layers["smooth"]), given.as_float(layers["texture"])
    return (base, texture, SeparateReport._from(layers["report"])) if return_report else (base, texture)
