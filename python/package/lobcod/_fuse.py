"""Fusion of several images of the same scene."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _lobcod
from ._arrays import Array, Image, complete, flat, read_image, white_of
from ._options import atoms_for, threads_for
from ._progress import watching
from ._public import public
from ._report import FuseReport
from ._warnings import warn

_VISIBLE_MOTION = 1.0
"""Largest motion between frames, in pixels, that is not visible."""


@public("fuse")
def fuse(images: Any, **options: Any) -> Any:
    """Fuse frames of a scene into one image that is in focus or well exposed everywhere.

    Each frame is separated into a smooth layer and texture (see :func:`separate`); each pixel is taken from the frame whose codes
    are most active around it. Frames are accessed one at a time, twice, so `images` may be a sequence that loads them on demand.
    Computes in single precision.

    {parameters}

    Returns
    -------
    array, or (array, FuseReport)
        The fused image, with the sample type of the frames.

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
        raise ValueError(f"fusion needs two or more frames, but got {len(images)}")

    def frame(number: int) -> Image:
        what = f"frame {number}"
        return complete(read_image(images[number], options["channel_axis"], what=what), what)

    def read(number: int) -> tuple[Array, bool]:
        image = frame(number)
        return image.array, image.has_channels

    first = flat(frame(0), "frame 0")
    options["scale"] = white_of(first.array, first.dtype) if options["scale"] is None else options["scale"]
    if options["compose"] is None:
        options["compose"] = "codes" if options["fuse_base"] == "average" else "pixels"
    options["threads"] = threads_for(options["threads"], first.array.size)
    options["precision"] = "f32"
    atoms = atoms_for(options["dictionary"], 2, "f32")
    decision = options.pop("decision")
    if decision is not None:
        decision = np.asarray(decision, dtype=np.float32)
    with watching(options["progress"]) as options["callback"]:
        answer = _lobcod.fuse(read, len(images), first.has_channels, atoms, decision, options)
    report = FuseReport._from(answer["report"])
    if options["align"] == "none" and report.largest_motion > _VISIBLE_MOTION:
        motion = f"{report.largest_motion:.1f} pixels"
        warn(f'the frames are misaligned by up to {motion}; try align="auto"')
    fused = first.restore(answer["image"])
    return (fused, report) if options["return_report"] else fused
