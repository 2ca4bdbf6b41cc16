"""The pursuit: codes of an image for a given dictionary."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np

from . import _lobcod
from ._arrays import Array, picture, precision_of, readable, restored
from ._codes import Codes
from ._options import atoms_for, path_of, penalty_options, run_options, running
from ._progress import Watcher
from ._report import Report


def encode(
    image: Any,
    dictionary: Any = None,
    penalty: float | None = None,
    mask: Any = None,
    border: str = "free",
    tolerance: float = 1e-3,
    *,
    relative_penalty: float | None = None,
    base: str = "local-mean",
    channel_axis: int | None = None,
    start: str | Codes = "zero",
    nonnegative: bool = False,
    atom_weights: Any = None,
    penalty_map: Any = None,
    max_nonzeros: Any = None,
    schedule: str = "tiles",
    local: str = "coordinate",
    tile: int | None = None,
    max_sweeps: int = 1000,
    seed: int = 0,
    precision: str | None = None,
    threads: int = 0,
    engine: str = "cpu",
    time_limit: float | None = None,
    max_memory: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    progress: Watcher = None,
) -> Codes:
    """Codes an image sparsely, with a certificate of optimality.

    Solves, for the image ``Y`` less its base layer ``B``, the weights ``A`` of the mask and unit atoms ``D``::

        min over needles a_i   1/2 || A (Y - B - sum_i P_i^T D a_i) ||^2  +  penalty * sum_ik |a_ik|

    by local block coordinate descent. The report's ``gap`` bounds how much lower any other answer could be.

    Parameters
    ----------
    image : array
        Signal ``(t,)``, image ``(h, w)`` or volume ``(d, h, w)`` of any real type, with an axis of channels where `channel_axis`
        names it. NaN samples are missing. Samples are taken as they are, whatever their type.
    dictionary : array or str, optional
        Atoms ``(m, h, w)``, or ``(m, c, h, w)`` for atoms that span the channels; the name of an embedded dictionary
        (see :func:`embedded_dictionary`) or ``"dct"``. Default: ``"natural"`` for images, otherwise ``"dct"``.
    penalty : float, optional
        Weight of the l1 norm, in units of the image. Default: `relative_penalty` 0.05.
    mask : array, optional
        True or 1 = observed, False or 0 = missing, between = counts less; of the shape of the image, channels may be left out.
    border : {"free", "zero", "periodic"}
        What lies beyond the edge: anything, zeros, or the opposite edge.
    tolerance : float
        Relative duality gap to reach.
    relative_penalty : float, optional
        The penalty as a share of ``penalty_max``, the smallest one with an all-zero answer.
    base : str
        Layer taken off before coding: ``"local-mean"``, ``"smooth"``, ``"smooth:WEIGHT"`` or ``"none"``.
    channel_axis : int, optional
        Axis of channels of `image`; ``None``: it has none.
    start : {"zero", "spread"} or Codes
        First codes.
    nonnegative : bool
        Codes must not be negative.
    atom_weights : array, optional
        Penalty weight of every atom.
    penalty_map : array, optional
        Penalty weight of every position, of the shape of the image or of the positions.
    max_nonzeros : int or array, optional
        Cap on the non-zero codes of a needle, one for all or one a position.
    schedule : {"tiles", "layers", "needles"}
        Order in which needles are visited; all reach the same optimum, tiles soonest.
    local : {"coordinate", "lars"}
        Solver of one needle.
    tile : int, optional
        Positions a tile has along an axis.
    max_sweeps : int
        Sweeps over all needles allowed.
    seed : int
        Seed of the order of layers (schedule ``"layers"``).
    precision : {"f32", "f64"}, optional
        Default: double for float64 images, single for all others.
    threads : int
        Worker threads; 0 means all cores. The answer is the same, bit for bit, on any number.
    engine : {"cpu", "cuda"}
        What does the work: threads of this machine, or an NVIDIA GPU (single precision).
    time_limit : float, optional
        Seconds allowed.
    max_memory : int, optional
        Bytes the solver may use; ``MemoryError`` if it would need more.
    checkpoint, resume : path, optional
        File in which the run is kept while it works; file to go on from, to the answer of the unbroken run.
    progress : bool or callable, optional
        ``True`` shows a bar; a function is called with every :class:`Progress` and returns ``False`` to stop.

    Returns
    -------
    Codes

    Examples
    --------
    >>> import lobcod
    >>> picture = lobcod.still_life(64).mean(axis=-1)
    >>> codes = lobcod.encode(picture, penalty=20)
    >>> codes.report.status, bool(codes.report.relative_gap <= 1e-3)
    ('converged', True)
    """
    given = picture(image, channel_axis, mask)
    precision = precision_of(precision, given.dtype)
    atoms = atoms_for(dictionary, given.rank, precision)
    cap = None if max_nonzeros is None or np.ndim(max_nonzeros) else int(max_nonzeros)
    if not isinstance(start, Codes) and start not in ("zero", "spread"):
        raise ValueError(f"start is {start}, but must be zero, spread or codes")
    signal = {
        **given.given(),
        "penalty_map": None if penalty_map is None else readable(penalty_map, "the penalty map"),
        "max_nonzeros_map": readable(max_nonzeros, "the map of caps") if max_nonzeros is not None and cap is None else None,
        "start": start._given() if isinstance(start, Codes) else None,
        "spread": start == "spread" if isinstance(start, str) else False,
    }
    options = {
        "border": border,
        "base": base,
        "schedule": schedule,
        "local": local,
        "nonnegative": nonnegative,
        "atom_weights": None if atom_weights is None else [float(w) for w in np.ravel(atom_weights)],
        "max_nonzeros": cap,
        "tile": tile,
        "max_sweeps": max_sweeps,
        "seed": seed,
        "checkpoint": path_of(checkpoint),
        "resume": path_of(resume),
    }
    penalties = penalty_options(penalty, relative_penalty)
    limits = run_options(precision, tolerance, time_limit, threads, engine, max_memory)
    with running(limits, progress) as run:
        answer = _lobcod.encode(signal, atoms, penalties, options, run)
    report = Report._from(answer["report"])
    if report.nonzeros == 0 and report.penalty >= report.penalty_max > 0:
        warnings.warn(
            f"the penalty {report.penalty:g} is at least penalty_max ({report.penalty_max:g}), so all codes are zero; use less",
            stacklevel=2,
        )
    position, atom, channel, value = answer["codes"]
    layer: Array | None = answer["base"]
    return Codes(
        position=position,
        atom=atom,
        channel=channel,
        value=value,
        dictionary=atoms,
        shape=given.shape,
        channels=given.channels,
        channel_axis=given.channel_axis,
        border=border,
        penalty=report.penalty,
        base=None if layer is None else given.as_float(layer),
        dtype=given.dtype,
        told=report,
    )


def decode(codes: Codes) -> Array:
    """The image that codes stand for, in the type of samples of the coded image; whole numbers are rounded and clipped.

    >>> import lobcod
    >>> picture = lobcod.still_life(32).astype("uint8")
    >>> lobcod.decode(lobcod.encode(picture, channel_axis=-1)).dtype
    dtype('uint8')
    """
    image = codes.reconstruct()
    return image if codes.dtype.kind == "f" else restored(image, None, codes.dtype)
