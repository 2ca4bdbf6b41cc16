"""Plots of dictionaries, codes, histories and reports, with matplotlib.

Examples
--------
>>> import matplotlib
>>> matplotlib.use("Agg")
>>> import lobcod
>>> axes = lobcod.plot.atoms(lobcod.embedded_dictionary())
>>> axes.get_title()
'81 atoms of 8x8'
>>> matplotlib.pyplot.close("all")
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import Array, white_of
from ._codes import Codes
from ._html import flat_atoms, looks_one_dimensional, mosaic
from ._report import LearnReport, Report

try:
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
except ImportError as error:
    raise ImportError("lobcod.plot needs matplotlib; pip install matplotlib") from error

_GAP_COLOUR = "tab:red"


def atoms(dictionary: ArrayLike, columns: int | None = None, ax: Axes | None = None, *, axes: str | None = None) -> Axes:
    """Draw atoms: image atoms as a mosaic, each scaled to the full grey range; signal atoms as curves.

    `dictionary` is ``(m, h, w)``, ``(m, 3, h, w)`` in colour, ``(m, t)``, or ``(m, c, t)`` with a curve for each channel. `axes`
    (``"mhw"`` or ``"mct"``) distinguishes the two with three axes; by default, atoms three times as long as wide are curves.
    """
    dictionary = np.asarray(dictionary, dtype=float)
    ax = _axes(ax)
    count = len(dictionary)
    named = "1 atom" if count == 1 else f"{count} atoms"
    if axes in ("mt", "mct") or (axes is None and looks_one_dimensional(dictionary.shape)):
        if dictionary.ndim not in (2, 3):
            raise ValueError(f"atoms of shape {dictionary.shape} do not have the axes {axes}")
        _draw_curves(dictionary.reshape(count, -1, dictionary.shape[-1]), ax)
        ax.set_title(f"{named} of {dictionary.shape[-1]}")
        return ax
    if axes not in (None, "mhw", "mchw"):
        raise ValueError(f'axes is {axes!r}, but must be "mt", "mct", "mhw" or "mchw"')
    if dictionary.ndim not in (3, 4) or (dictionary.ndim == 4 and dictionary.shape[1] != 3):
        raise ValueError(
            f"atoms of shape {dictionary.shape} cannot be drawn; the shape must be (m, h, w), (m, 3, h, w), (m, t) or (m, c, t)"
        )
    ax.imshow(mosaic(dictionary, columns), cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    ax.set_axis_off()
    ax.set_title(f"{named} of {dictionary.shape[-2]}x{dictionary.shape[-1]}")
    return ax


def _draw_curves(dictionary: Array, ax: Axes) -> None:
    """Draw one row per atom ``(m, c, t)``, with one coloured curve per channel."""
    spread = np.maximum(np.abs(dictionary).max(axis=(1, 2), keepdims=True), 1e-300)
    rows = dictionary / (2.2 * spread) - np.arange(len(dictionary))[:, None, None]
    for channel in range(dictionary.shape[1]):
        ax.plot(rows[:, channel].T, color=f"C{channel}", linewidth=1)
    ax.set_yticks([])


def images(*images: ArrayLike, titles: Sequence[str] = (), data_range: float | None = None, size: float = 2.0) -> Figure:
    """Draw images ``(h, w)`` or ``(h, w, 3)`` side by side, all with the same grey levels.

    `data_range` is the sample value of white; by default the maximum of an integer type, 1 for floats up to 1.5, otherwise 255.
    Missing samples (NaN) are black. `size` is the height of the figure in inches.
    """
    if not images:
        raise ValueError("there are no images to draw")
    shown = [np.asarray(image) for image in images]
    width = sum(image.shape[1] / image.shape[0] for image in shown)
    figure, panels = plt.subplots(1, len(shown), figsize=(size * width, 1.1 * size), squeeze=False)
    for number, (panel, image) in enumerate(zip(panels[0], shown)):
        white = white_of(image, image.dtype) if data_range is None else data_range
        panel.imshow(np.clip(np.nan_to_num(image.astype(float)) / white, 0, 1), cmap="gray", vmin=0, vmax=1)
        panel.set_title(titles[number] if number < len(titles) else "")
        panel.set_axis_off()
    figure.tight_layout()
    return figure


def codes(codes: Codes, ax: Axes | None = None) -> Axes:
    """Draw the positions of codes: the sum of their magnitudes at each position (for signals, one stem per code)."""
    ax = _axes(ax)
    ax.set_title(f"{len(codes)} non-zero codes")
    if len(codes.shape) == 1:
        ax.vlines(codes.position[:, 0], 0, codes.value, linewidth=1)
        ax.set_xlabel("position")
        return ax
    if len(codes.shape) != 2:
        raise ValueError("codes of volumes cannot be drawn; draw a slice of their maps")
    activity = np.zeros(codes.position_shape)
    at = codes.position - np.array(codes.first_position)
    np.add.at(activity, (at[:, 0], at[:, 1]), np.abs(codes.value))
    white = np.percentile(activity[activity > 0], 99) if len(codes) else 1.0
    ax.imshow(activity, cmap="magma", vmin=0, vmax=white, interpolation="nearest")
    ax.set_axis_off()
    return ax


def history(report: Report | LearnReport | Codes, ax: Axes | None = None) -> Axes:
    """Draw the objective against time and, if available, the relative duality gap on a second axis."""
    report = report.report if isinstance(report, Codes) else report
    ax = _axes(ax)
    points: list[Any] = list(report.history)
    ax.plot([p.seconds for p in points], [p.objective for p in points], marker=".", color="tab:blue")
    ax.set_xlabel("seconds")
    ax.set_ylabel("objective")
    ax.set_yscale("log")
    gaps = [(p.seconds, p.relative_gap) for p in points if getattr(p, "relative_gap", None)]
    if gaps:
        other = ax.twinx()
        other.plot(*zip(*gaps), marker=".", linestyle=":", color=_GAP_COLOUR)
        other.set_yscale("log")
        other.set_ylabel("relative gap", color=_GAP_COLOUR)
    ax.set_title(f"{report.status}, gap {report.relative_gap:.1e}")
    return ax


def report(codes_: Codes, figure: Figure | None = None) -> Figure:
    """Draw an overview of codes: reconstruction, texture, code positions, most used atoms and history."""
    if len(codes_.shape) != 2:
        raise ValueError("a report shows images with two axes; draw codes and history separately")
    figure = plt.figure(figsize=(12, 7)) if figure is None else figure
    panels = figure.subplots(2, 3).ravel()
    texture = codes_.texture()
    _show(panels[0], codes_.reconstruct(), codes_.channel_axis, "reconstruction")
    _show(panels[1], texture, codes_.channel_axis, "texture")
    codes(codes_, panels[2])
    energy = np.zeros(len(codes_.dictionary))
    np.add.at(energy, codes_.atom, np.square(codes_.value.astype(float)))
    most = np.argsort(-energy)[:36]
    drawn = flat_atoms(codes_.dictionary[most], 2)
    atoms(drawn, ax=panels[3], axes="mhw" if drawn.ndim == 3 else "mchw")
    panels[3].set_title(f"the {len(most)} atoms with most energy")
    panels[4].bar(range(len(energy)), np.sort(energy)[::-1] / max(energy.sum(), 1e-300), width=1.0)
    panels[4].set_xlabel("atom, by energy")
    panels[4].set_ylabel("fraction of energy")
    if codes_._report is not None:
        history(codes_, panels[5])
    else:
        panels[5].set_axis_off()
    figure.tight_layout()
    return figure


def _axes(ax: Axes | None) -> Axes:
    return plt.subplots()[1] if ax is None else ax


def _show(ax: Axes, image: Array, channel_axis: int | None, title: str) -> None:
    image = np.asarray(image, dtype=float)
    if channel_axis is not None:
        image = np.moveaxis(image, channel_axis, -1)
        image = image if image.shape[-1] == 3 else image.mean(axis=-1)
    low, high = np.percentile(image, [0.5, 99.5])
    ax.imshow(np.clip((image - low) / max(high - low, 1e-300), 0, 1), cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    ax.set_axis_off()
    ax.set_title(title)
