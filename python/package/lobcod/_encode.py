"""Pursuit: codes of an image for a given dictionary."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from . import _lobcod
from ._arrays import Array, Image, checked_axis, precision_of, read_image, readable, restored, warn_of_colour
from ._bands import Rows, encode_in_bands, is_lazy
from ._codes import Codes
from ._options import atoms_for, set_penalty, threads_for
from ._progress import watching
from ._public import public
from ._report import Report
from ._warnings import ConvergenceWarning, warn


@public("encode")
def encode(image: Any, **options: Any) -> Any:
    """Compute sparse codes of an image, with a certificate of optimality.

    For the image ``Y``, its base layer ``B``, the mask weights ``A`` and unit-norm atoms ``D``, solves::

        min over needles a_i   1/2 || A (Y - B - sum_i P_i^T D a_i) ||^2  +  penalty * sum_ik |a_ik|

    by local block coordinate descent. The ``gap`` in the report is an upper bound on the distance to the optimum. A
    :class:`ConvergenceWarning` is issued if `max_sweeps` or `time_limit` stops the solver before `tolerance` is reached.

    Memory maps and arrays of dask, zarr and h5py that are larger than memory, and arrays whose solver exceeds `max_memory`, are
    read and coded in bands; their codes stay on disk.

    {parameters}

    Returns
    -------
    Codes, or a list of Codes

    Examples
    --------
    >>> import lobcod
    >>> image = lobcod.still_life(64).mean(axis=-1)
    >>> codes = lobcod.encode(image, penalty=20)
    >>> codes.report.status, bool(codes.report.relative_gap <= 1e-3)
    ('converged', True)
    >>> [len(part) > 0 for part in lobcod.encode([image[:32], image[32:]], penalty=20)]
    [True, True]
    """
    if options["max_error"] is not None and (options["penalty"] is not None or options["relative_penalty"] is not None):
        raise ValueError("max_error and a penalty are both given; remove one")
    set_penalty(options)
    several = isinstance(image, (list, tuple))
    images = list(image) if several else [image]
    if several and (options["checkpoint"] or options["resume"] or options["output"]):
        raise ValueError("checkpoint, resume and output work with one image only, but several are given; encode them separately")
    given = {name: _for_each(options[name], len(images), name, several) for name in ("mask", "start", "penalty_map", "weights")}
    dictionaries: dict[tuple[int, str], Array] = {}
    begin, limit = time.monotonic(), options["time_limit"]
    answers = []
    for number, one in enumerate(images):
        own = {**options, **{name: values[number] for name, values in given.items()}}
        if limit is not None and number > 0:
            own["time_limit"] = max(0.0, limit - (time.monotonic() - begin))
        what = f"image {number}" if several else "the image"
        answers.append(_encode_one(one, own, what, dictionaries))
    warn_of_convergence(answers, options)
    return answers if several else answers[0]


def _for_each(value: Any, count: int, name: str, several: bool) -> list[Any]:
    """Return one value per image, from a single value or a list of values."""
    if not (several and isinstance(value, (list, tuple))):
        return [value] * count
    if len(value) != count:
        raise ValueError(f"{name} has {len(value)} entries for {count} images; pass one for each")
    return list(value)


def _encode_one(image: Any, options: dict[str, Any], what: str, dictionaries: dict[tuple[int, str], Array]) -> Codes:
    """Code one image: in bands if it is too large for the memory limit, otherwise as a whole."""
    start, axes_known = options["start"], options["dictionary"] is not None
    if not isinstance(start, Codes) and start not in ("zero", "spread"):
        raise ValueError(f"start is {start}, but must be zero, spread or codes")

    def atoms_of(rank: int, dtype: np.dtype[Any]) -> Array:
        options["precision"] = precision_of(options["precision"], dtype)
        key = rank, options["precision"]
        if key not in dictionaries:
            dictionaries[key] = atoms_for(options["dictionary"], *key)
        return dictionaries[key]

    codes = None
    if is_lazy(image) or ((options["max_memory"] is not None or options["engine"] != "cpu") and isinstance(image, np.ndarray)):
        if not axes_known:
            warn_of_colour(image.shape, options["channel_axis"], what)
        rows = Rows(image, options["mask"], checked_axis(options["channel_axis"], image.ndim, what))
        codes = encode_in_bands(rows, atoms_of(len(rows.shape), np.dtype(image.dtype)), options)
        axes_known = True
    if codes is None:
        whole = read_image(image, options["channel_axis"], options["mask"], what=what, axes_known=axes_known)
        codes = _encode_whole(whole, atoms_of(whole.rank, whole.dtype), options)
        if options["output"] is not None:
            codes.save(options["output"])
    report = codes.report
    if report.nonzeros == 0 and report.penalty >= report.penalty_max > 0:
        warn(
            f"all codes are zero because the penalty ({report.penalty:g}) is not below penalty_max ({report.penalty_max:g}); "
            "use a smaller penalty"
        )
    return codes


def _encode_whole(image: Image, atoms: Array, options: dict[str, Any]) -> Codes:
    start, cap, penalty_map, weights = (options[name] for name in ("start", "max_nonzeros", "penalty_map", "weights"))
    capped_everywhere = cap is not None and np.ndim(cap) == 0
    signal = {
        **image.fields(),
        "penalty_map": None if penalty_map is None else readable(penalty_map, "the penalty map"),
        "weights": None if weights is None else readable(weights, "the weights"),
        "max_nonzeros_map": None if cap is None or capped_everywhere else readable(cap, "the map of max_nonzeros"),
        "start": start._fields() if isinstance(start, Codes) else None,
        "spread": isinstance(start, str) and start == "spread",
    }
    options["max_nonzeros"] = cap if capped_everywhere else None
    options["threads"] = threads_for(options["threads"], image.array.size)
    with watching(options["progress"]) as options["callback"]:
        answer = _lobcod.encode(signal, atoms, options)
    report = Report._from(answer["report"])
    position, atom, channel, value = answer["codes"]
    layer: Array | None = answer["base"]
    return Codes(
        position=position,
        atom=atom,
        channel=channel,
        value=value,
        dictionary=atoms,
        shape=image.shape,
        channels=image.channels,
        channel_axis=image.channel_axis,
        border=options["border"],
        penalty=report.penalty,
        base=None if layer is None else restored(layer, image.channel_axis, layer.dtype),
        dtype=image.dtype,
        _report=report,
    )


_ROUNDING = 1e-4
"""Gaps that rounding errors of single precision may leave."""


def warn_of_convergence(answers: list[Codes], options: dict[str, Any]) -> None:
    """Issue one warning for all codes whose solver ended above the tolerance."""
    reports = [codes.report for codes in answers]
    stopped = [report for report in reports if report.status in ("max_sweeps", "time_limit")]
    # With a maximum number of non-zeros the problem is not convex, and no gap is small.
    if options["max_nonzeros"] is None:
        stopped += [report for report in reports if report.status == "stalled" and report.relative_gap > _ROUNDING]
    if not stopped:
        return
    worst = max(stopped, key=lambda report: report.relative_gap)
    which = f"{len(stopped)} of the {len(answers)} pursuits" if len(answers) > 1 else "the pursuit"
    remedy = "raise the tolerance" if worst.status == "stalled" else "raise the limit, the tolerance or the penalty"
    warn(f"{which} ended at {worst.status} with a relative gap of {worst.relative_gap:.1e}; {remedy}", ConvergenceWarning)


def decode(codes: Codes) -> Array:
    """Reconstruct an image from codes, in the sample type of the coded image; integers are rounded and clipped.

    Examples
    --------
    >>> import lobcod
    >>> image = lobcod.still_life(32).astype("uint8")
    >>> lobcod.decode(lobcod.encode(image, channel_axis=-1)).dtype
    dtype('uint8')
    """
    image = codes.reconstruct()
    return image if codes.dtype.kind == "f" else restored(image, None, codes.dtype)
