"""Separation: a smooth layer and texture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from . import _lobcod
from ._arrays import Array, picture, precision_of
from ._options import atoms_for, penalty_options, run_options, running
from ._progress import Watcher
from ._report import SeparateReport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._typing import SeparateOptions


@overload
def separate(image: Any, *, return_report: Literal[False] = ..., **options: Unpack[SeparateOptions]) -> tuple[Array, Array]: ...
@overload
def separate(
    image: Any, *, return_report: Literal[True], **options: Unpack[SeparateOptions]
) -> tuple[Array, Array, SeparateReport]: ...
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
    engine: str = "cpu",
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
        Times pursuit and smooth layer take turns; 0: the smooth layer of the image itself is kept.
    tolerance : float
        Relative joint duality gap to reach.
    return_report : bool
        Return the report as a third value.
    dictionary, penalty, relative_penalty, channel_axis, precision, threads, engine, time_limit, max_memory, progress
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
    limits = run_options(precision, tolerance, time_limit, threads, engine, max_memory)
    with running(limits, progress) as run:
        layers = _lobcod.separate(given.array, given.has_channels, atoms, float(smooth), alternations, penalties, run)
    base, texture = given.as_float(layers["smooth"]), given.as_float(layers["texture"])
    return (base, texture, SeparateReport._from(layers["report"])) if return_report else (base, texture)
