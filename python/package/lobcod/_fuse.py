"""Fusion: one picture from many of the same scene."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from . import _lobcod
from ._arrays import Array, picture
from ._denoise import white
from ._options import atoms_for, run_options, running
from ._progress import Watcher
from ._report import FuseReport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._typing import FuseOptions

_WORTH_A_WARNING = 1.0
"""Pixels that frames may lie apart before it shows."""


@overload
def fuse(
    images: Sequence[Any], mode: str = ..., *, return_report: Literal[False] = ..., **options: Unpack[FuseOptions]
) -> Array: ...
@overload
def fuse(
    images: Sequence[Any], mode: str = ..., *, return_report: Literal[True], **options: Unpack[FuseOptions]
) -> tuple[Array, FuseReport]: ...
def fuse(
    images: Sequence[Any],
    mode: str = "focus",
    *,
    dictionary: Any = None,
    penalty: float = 1.0,
    smooth: float = 5.0,
    window: int = 9,
    fuse_base: str = "select",
    compose: str | None = None,
    activity: str = "rough",
    prefer: str = "front",
    align: str = "none",
    fast: bool = False,
    alternations: int = 0,
    tolerance: float = 0.5,
    scale: float | None = None,
    channel_axis: int | None = None,
    threads: int = 0,
    engine: str = "cpu",
    time_limit: float | None = None,
    max_memory: int | None = None,
    progress: Watcher = None,
    return_report: bool = False,
) -> Array | tuple[Array, FuseReport]:
    """Fuses frames of one scene into one picture, in focus or well exposed everywhere.

    Every frame is separated into a smooth layer and texture (see :func:`separate`); pixels are taken from the frame whose codes
    are most active around them. Frames are read one by one, twice, so `images` may be a sequence that loads them when asked.
    Works in single precision.

    Parameters
    ----------
    images : sequence of arrays
        Two or more frames of one shape, grey or with three channels.
    mode : {"focus", "exposure"}
        What differs between the frames.
    dictionary : array or str, optional
        Flat atoms of one channel, as for :func:`encode`.
    penalty : float
        Weight of the l1 norm, for lightness in 0..100.
    smooth : float
        Weight of the squared gradient of the smooth layers.
    window : int
        Side of the box that activity is averaged over.
    fuse_base : {"select", "average"}
        How smooth layers become one where the picture is composed of codes.
    compose : {"pixels", "codes"}, optional
        What the picture is put together from: pixels of the frames, or codes and smooth layers as in the paper. Default: pixels,
        or codes where the base is averaged.
    activity : {"rough", "plain"}
        How much a code counts: by how rough its atom is, or all alike as in the paper.
    prefer : {"front", "back"}
        Frame that is taken where nothing tells frames apart.
    align : {"none", "shift", "similarity"}
        How frames are brought to cover each other.
    fast : bool
        Measure activity at half the resolution.
    alternations, tolerance
        Turns (0: the smooth layer of a frame itself is kept) and relative gap of the separation of each frame.
    scale : float, optional
        Sample that stands for white. Default: the largest one of whole numbers, 255 for other types.
    return_report : bool
        Return the report as well; its ``decision`` is the number of the frame every pixel came from.
    channel_axis, threads, engine, time_limit, max_memory, progress
        As for :func:`encode`.

    Returns
    -------
    array, or (array, FuseReport)
        The picture, of the type of the frames.

    Examples
    --------
    >>> import lobcod, numpy as np
    >>> sharp = lobcod.still_life(64).mean(axis=-1)
    >>> blurred = sum(np.roll(sharp, (y, x), (0, 1)) for y in range(-2, 3) for x in range(-2, 3)) / 25
    >>> left = np.arange(64) < 32
    >>> near, far = np.where(left, sharp, blurred), np.where(left, blurred, sharp)
    >>> fused, report = lobcod.fuse([near, far], return_report=True)
    >>> bool(report.decision[:, :24].mean() < 0.5 < report.decision[:, 40:].mean())
    True
    """
    if len(images) < 2:
        raise ValueError(f"fusion takes two frames or more, but there are {len(images)}")

    def read(number: int) -> tuple[Array, bool]:
        frame = picture(images[number], channel_axis, what=f"frame {number}")
        if frame.known is not None:
            raise ValueError(f"frame {number} has missing samples; fill them first")
        return frame.array, frame.has_channels

    first = picture(images[0], channel_axis, what="frame 0")
    options = {
        "mode": mode,
        "scale": white(first.dtype) if scale is None else float(scale),
        "penalty": float(penalty),
        "smooth": float(smooth),
        "window": window,
        "activity": activity,
        "compose": compose if compose is not None else "codes" if fuse_base == "average" else "pixels",
        "fuse_base": fuse_base,
        "prefer": prefer,
        "align": align,
        "fast": fast,
        "alternations": alternations,
    }
    atoms = atoms_for(dictionary, 2, "f32")
    limits = run_options("f32", tolerance, time_limit, threads, engine, max_memory)
    with running(limits, progress) as run:
        answer = _lobcod.fuse(read, len(images), first.has_channels, atoms, options, run)
    report = FuseReport._from(answer["report"])
    if align == "none" and report.largest_motion > _WORTH_A_WARNING:
        apart = f"{report.largest_motion:.1f} pixels"
        warnings.warn(f'the frames lie up to {apart} apart; try align="shift" or align="similarity"', stacklevel=2)
    fused = first.restore(answer["picture"])
    return (fused, report) if return_report else fused
