"""Inpainting."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _lobcod
from ._arrays import precision_of, read_image
from ._options import atoms_for, threads_for
from ._progress import watching
from ._public import public
from ._report import InpaintReport


@public("inpaint")
def inpaint(image: Any, **options: Any) -> Any:
    """Fill in missing samples of an image.

    Fits the local mean plus ``sum_i P_i^T D a_i`` to the known samples only; the penalty is chosen to predict held-out known
    samples. The values of missing samples are never used.

    {parameters}

    Returns
    -------
    array, or (array, InpaintReport)
        The filled image, with the sample type of `image`.

    Examples
    --------
    >>> import lobcod, numpy as np
    >>> image = lobcod.still_life(64).mean(axis=-1)
    >>> known = np.random.default_rng(0).random(image.shape) < 0.5
    >>> filled = lobcod.inpaint(np.where(known, image, 0), known)
    >>> bool(abs(filled - image).mean() < 8) and np.array_equal(filled[known], image[known])
    True
    """
    preset, penalty, dictionary = options["preset"], options["penalty"], options["dictionary"]
    if options["learn"] not in (None, "none", "image"):
        raise ValueError(f"learn is {options['learn']}, but must be none or image")
    if options["learn"] is not None:
        options["learn"] = options["learn"] == "image"
    if isinstance(penalty, str):
        if penalty != "auto":
            raise ValueError(f"the penalty is {penalty}, but must be auto or a positive number")
        options["penalty"] = None
    given = read_image(image, options["channel_axis"], options["known"], axes_known=dictionary is not None)
    if dictionary is None and preset == "best" and given.rank == 2:
        dictionary = ["natural-12x12-128", "natural"]
    if dictionary is not None and preset == "fast" and options["variants"] is None:
        # Atoms that are given are used.
        options["variants"] = 1
    several = dictionary if isinstance(dictionary, (list, tuple)) else [dictionary]
    precision = options["precision"] = precision_of(options["precision"], given.dtype)
    options["threads"] = threads_for(options["threads"], given.array.size)
    observed = np.ones(given.shape, np.bool_) if given.known is None else given.known
    atoms = [atoms_for(one, given.rank, precision) for one in several]
    with watching(options["progress"]) as options["callback"]:
        answer = _lobcod.inpaint(given.array, given.has_channels, observed, atoms, options)
    filled = given.restore(answer["fit" if options["refit_known"] else "image"])
    if not options["return_report"]:
        return filled
    fields = {**answer["report"], "fit": given.as_float(answer["fit"]), "dictionary": answer["learnt"]}
    return filled, InpaintReport._from(fields)
