"""Denoising."""

from __future__ import annotations

from typing import Any

from . import _lobcod
from ._arrays import complete, read_image, white_of
from ._options import atoms_for, threads_for
from ._progress import watching
from ._public import public
from ._report import DenoiseReport, Report


@public("denoise")
def denoise(image: Any, **options: Any) -> Any:
    """Remove noise from an image or a stack of images. Computes in single precision.

    An array with three axes besides channels is a stack: a volume, or the frames of a sequence. Similar patches are then also
    searched in neighbouring slices.

    A level (`sigma`, `gain`, both, or `share`) without a noise model selects Gaussian, Poisson, mixed or impulse noise.

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
    options["noise"] = _noise(options)
    dictionary = options["dictionary"]
    given = complete(read_image(image, options["channel_axis"], axes_known=dictionary is not None))
    if given.rank not in (2, 3):
        axes = f"the image has {given.rank} axes besides channels, but must have 2, or 3 in a stack"
        raise ValueError(f"{axes}; pass channel_axis=-1 for colour")
    with_atoms = dictionary is not None or not options["fit_atoms"]
    if options["preset"] is None:
        options["preset"] = "fast" if with_atoms else "standard"
    elif with_atoms and options["preset"] != "fast" and options["method"] is None:
        raise ValueError("a dictionary and fit_atoms=False are for methods with atoms; use preset='fast', or remove them")
    atoms = atoms_for(dictionary, 2, "f32")
    options["scale"] = white_of(given.array, given.dtype) if options["scale"] is None else options["scale"]
    options["threads"] = threads_for(options["threads"], given.array.size)
    options["precision"] = "f32"
    with watching(options["progress"]) as options["callback"]:
        answer = _lobcod.denoise(given.array, given.has_channels, atoms, options)
    clean = given.restore(answer["image"])
    if not options["return_report"]:
        return clean
    pursuit = answer["report"]["pursuit"]
    return clean, DenoiseReport._from({**answer["report"], "pursuit": None if pursuit is None else Report._from(pursuit)})


_LEVELS = {
    "gaussian": ("sigma",),
    "poisson": ("gain",),
    "mixed": ("gain", "sigma"),
    "correlated": ("sigma",),
    "impulse": ("share",),
}


def _noise(options: dict[str, Any]) -> str:
    """Return the noise model and its levels in one text, as on the command line; levels alone determine the model."""
    noise: str = options["noise"]
    given = {name: options[name] for name in ("gain", "sigma", "share") if options[name] is not None}
    if noise == "mixed":
        given = {"gain": 1.0, "sigma": 0.0, **given}
    if not given:
        return noise
    if noise == "auto":
        noise = next((kind for kind, names in _LEVELS.items() if set(names) == set(given)), noise)
    names = _LEVELS.get(noise, ())
    if set(given) != set(names):
        takes = f", which takes {' and '.join(names)}" if names else ""
        raise ValueError(f"{' and '.join(given)} cannot be given for the noise {noise}{takes}; remove one of them")
    return f"{noise}:{','.join(repr(float(given[name])) for name in names)}"
