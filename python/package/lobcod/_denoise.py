"""Denoising."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _lobcod
from ._arrays import complete, flat, read_image
from ._options import atoms_for, threads_for
from ._progress import watching
from ._public import public
from ._report import DenoiseReport, Report


@public("denoise")
def denoise(image: Any, **options: Any) -> Any:
    """Remove noise from a greyscale or three-channel image. Computes in single precision.

    {parameters}

    Returns
    -------
    array, or (array, DenoiseReport)
        The clean image, with the sample type of `image`.

    Examples
    --------
    >>> import lobcod, numpy as np
    >>> image = lobcod.still_life(64).mean(axis=-1)
    >>> noisy = image + 20 * np.random.default_rng(0).standard_normal(image.shape)
    >>> clean = lobcod.denoise(noisy, sigma=20)
    >>> lobcod.psnr(clean, image, 255) > lobcod.psnr(noisy, image, 255) + 3
    True
    """
    options.update(_noise(options))
    dictionary = options["dictionary"]
    given = flat(complete(read_image(image, options["channel_axis"], axes_known=dictionary is not None)))
    with_atoms = dictionary is not None or not options["fit_atoms"]
    if options["preset"] is None:
        options["preset"] = "fast" if with_atoms else "standard"
    elif with_atoms and options["preset"] != "fast" and options["method"] is None:
        raise ValueError("a dictionary and fit_atoms=False are for methods with atoms; use preset='fast', or remove them")
    atoms = atoms_for(dictionary, 2, "f32")
    options["scale"] = white(given.dtype) if options["scale"] is None else options["scale"]
    options["threads"] = threads_for(options["threads"], given.array.size)
    options["precision"] = "f32"
    with watching(options["progress"]) as options["callback"]:
        answer = _lobcod.denoise(given.array, given.has_channels, atoms, options)
    clean = given.restore(answer["image"])
    if not options["return_report"]:
        return clean
    pursuit = answer["report"]["pursuit"]
    return clean, DenoiseReport._from({**answer["report"], "pursuit": None if pursuit is None else Report._from(pursuit)})


_AMOUNTS = {"gaussian": ("sigma",), "poisson": ("gain",), "mixed": ("gain", "sigma"), "impulse": ("share",)}


def _noise(options: dict[str, Any]) -> dict[str, Any]:
    """Parse the noise model and its levels, which may follow the name."""
    kind, _, text = options["noise"].partition(":")
    if not text:
        return {"noise": options["noise"]}
    names = _AMOUNTS.get(kind, ())
    try:
        amounts = [float(amount) for amount in text.split(",")]
    except ValueError:
        amounts = []
    if not names or len(amounts) != len(names):
        raise ValueError(
            f"the noise is {options['noise']}, but must be gaussian, gaussian:SIGMA, poisson, poisson:GAIN, mixed:GAIN,SIGMA, "
            "impulse or impulse:SHARE"
        )
    return {"noise": kind, **dict(zip(names, amounts))}


def white(dtype: np.dtype[Any]) -> float:
    """Return the sample value of white: the maximum of the integer type, or 255."""
    return float(np.iinfo(dtype).max) if dtype.kind in "ui" else 255.0
