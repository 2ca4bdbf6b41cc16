"""Separation into a smooth layer and texture."""

from __future__ import annotations

from typing import Any

from . import _lobcod
from ._arrays import complete, precision_of, read_image
from ._options import atoms_for, set_penalty, threads_for
from ._progress import watching
from ._public import public
from ._report import SeparateReport


@public("separate")
def separate(image: Any, **options: Any) -> Any:
    """Split an image into a smooth layer and texture.

    Solves, over the smooth layer ``B`` and the needles ``a_i`` together::

        min   1/2 || Y - B - sum_i P_i^T D a_i ||^2  +  penalty * sum_ik |a_ik|  +  smooth/2 * || grad B ||^2

    {parameters}

    Returns
    -------
    (smooth layer, texture), or (smooth layer, texture, SeparateReport)
        In floating point. The report's ``status`` is ``"completed"`` if all alternations were run.

    Examples
    --------
    >>> import lobcod
    >>> smooth, texture = lobcod.separate(lobcod.still_life(32).mean(axis=-1), penalty=5)
    >>> smooth.shape, texture.shape
    ((32, 32), (32, 32))
    """
    set_penalty(options)
    dictionary = options["dictionary"]
    given = complete(read_image(image, options["channel_axis"], axes_known=dictionary is not None))
    options["precision"] = precision_of(options["precision"], given.dtype)
    options["threads"] = threads_for(options["threads"], given.array.size)
    atoms = atoms_for(dictionary, given.rank, options["precision"])
    with watching(options["progress"]) as options["callback"]:
        layers = _lobcod.separate(given.array, given.has_channels, atoms, options)
    smooth, texture = given.as_float(layers["smooth"]), given.as_float(layers["texture"])
    return (smooth, texture, SeparateReport._from(layers["report"])) if options["return_report"] else (smooth, texture)
