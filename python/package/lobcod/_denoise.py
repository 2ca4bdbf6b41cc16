"""Denoising: a clean image from a noisy one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from . import _lobcod
from ._arrays import Array, picture
from ._options import atoms_for, run_options, running
from ._progress import Watcher
from ._report import DenoiseReport, Report

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._typing import DenoiseOptions


@overload
def denoise(image: Any, noise: str = ..., *, return_report: Literal[False] = ..., **options: Unpack[DenoiseOptions]) -> Array: ...
@overload
def denoise(
    image: Any, noise: str = ..., *, return_report: Literal[True], **options: Unpack[DenoiseOptions]
) -> tuple[Array, DenoiseReport]: ...
def denoise(
    image: Any,
    noise: str = "gaussian",
    *,
    sigma: float | None = None,
    gain: float | None = None,
    share: float | None = None,
    dictionary: Any = None,
    method: str = "local",
    fit_atoms: bool = True,
    scale: float | None = None,
    penalty: float | None = None,
    tolerance: float = 1e-2,
    channel_axis: int | None = None,
    threads: int = 0,
    engine: str = "cpu",
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
    gain : float, optional
        Sample of one count of Poisson noise. Default: estimated; 1 for mixed noise.
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
    channel_axis, threads, engine, time_limit, max_memory, progress
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
    limits = run_options("f32", tolerance, time_limit, threads, engine, max_memory)
    with running(limits, progress) as run:
        answer = _lobcod.denoise(given.array, given.has_channels, atoms, options, run)
    clean = given.restore(answer["picture"])
    if not return_report:
        return clean
    pursuit = answer["report"]["pursuit"]
    told = {**answer["report"], "pursuit": None if pursuit is None else Report._from(pursuit)}
    return clean, DenoiseReport._from(told)


def _noise(
    noise: str, sigma: float | None, gain: float | None, share: float | None
) -> tuple[str, float | None, float | None, float | None]:
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
