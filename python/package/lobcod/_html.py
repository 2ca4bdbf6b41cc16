"""Images of atoms and curves for notebooks, without matplotlib."""

from __future__ import annotations

import base64
import html
import math
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._arrays import Array

_MOST_ATOMS = 256
_MOST_CURVES = 24
_WIDTH = 240
_HEIGHT = 120


def panel(title: str, *images: str) -> str:
    """Return a line of text with images below it."""
    return f"<div><code>{html.escape(title)}</code><br>{' '.join(images)}</div>"


def mosaic(dictionary: Array, columns: int | None = None) -> Array:
    """Atoms ``(m, h, w)`` or ``(m, 3, h, w)`` side by side, each scaled to the full range, zero at mid-grey."""
    count, (height, width) = len(dictionary), dictionary.shape[-2:]
    columns = math.ceil(math.sqrt(count)) if columns is None else columns
    rows = -(-count // columns)
    colour = dictionary.ndim == 4
    tiles = np.full((rows * (height + 1) + 1, columns * (width + 1) + 1, *((3,) if colour else ())), 1.0)
    for k, atom in enumerate(dictionary):
        tile = 0.5 + 0.5 * atom / max(float(np.abs(atom).max()), 1e-300)
        y, x = 1 + k // columns * (height + 1), 1 + k % columns * (width + 1)
        tiles[y : y + height, x : x + width] = np.moveaxis(tile, 0, -1) if colour else tile
    return tiles


def flat_atoms(dictionary: Array, rank: int) -> Array:
    """Return atoms as shown in a mosaic: the middle slice of volumes, three channels or their mean."""
    dictionary = np.asarray(dictionary, dtype=float)
    if rank == 3:
        dictionary = dictionary[..., dictionary.shape[-3] // 2, :, :]
    return dictionary if dictionary.ndim == 3 or dictionary.shape[1] == 3 else dictionary.mean(axis=1)


def looks_one_dimensional(shape: tuple[int, ...]) -> bool:
    """Whether atoms of three axes look like ``(m, c, t)`` rather than ``(m, h, w)``: at least three times as long as wide."""
    return len(shape) == 2 or (len(shape) == 3 and shape[2] >= 3 * shape[1])


def atoms_image(dictionary: Array, rank: int | None = None) -> str:
    """Draw the first atoms of a dictionary for signals with this many axes, by default inferred from its shape."""
    if rank is None:
        rank = 1 if looks_one_dimensional(dictionary.shape) else 3 if dictionary.ndim == 5 else 2
    if rank == 1:
        atoms = np.asarray(dictionary[:_MOST_CURVES], dtype=float).reshape(-1, dictionary.shape[-1])
        spread = np.maximum(np.abs(atoms).max(axis=1, keepdims=True), 1e-300)
        return _curves([(np.arange(atoms.shape[1]), row - 2.2 * k) for k, row in enumerate(atoms / spread)], "atoms")
    pixels = np.rint(255 * mosaic(flat_atoms(dictionary[:_MOST_ATOMS], rank))).astype(np.uint8)
    data = base64.b64encode(_png(pixels)).decode()
    return f'<img alt="atoms" width="{_WIDTH}" style="image-rendering:pixelated" src="data:image/png;base64,{data}">'


def objective_curve(history: Sequence[Any]) -> str:
    """Draw the objective against time, on a logarithmic scale."""
    points = [(point.seconds, math.log(point.objective)) for point in history if point.objective > 0]
    if len(points) < 2:
        return ""
    seconds, objective = np.array(points).T
    return _curves([(seconds, objective)], "objective against time")


def _curves(curves: Sequence[tuple[Array, Array]], title: str) -> str:
    """Draw curves with shared axes, as SVG."""
    x, y = (np.concatenate([curve[i] for curve in curves]).astype(float) for i in (0, 1))
    left, top = x.min(), y.max()
    across, down = _WIDTH / max(float(np.ptp(x)), 1e-300), _HEIGHT / max(float(np.ptp(y)), 1e-300)
    lines = ""
    for xs, ys in curves:
        points = " ".join(f"{(a - left) * across:.1f},{(top - b) * down:.1f}" for a, b in zip(xs, ys))
        lines += f'<polyline points="{points}" fill="none" stroke="#1f77b4" stroke-width="1"/>'
    box = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="-4 -4 {_WIDTH + 8} {_HEIGHT + 8}"'
    return f'<svg {box} role="img"><title>{html.escape(title)}</title>{lines}</svg>'


def _png(pixels: Array) -> bytes:
    """Encode 8-bit grey ``(h, w)`` or colour ``(h, w, 3)`` pixels as PNG."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    height, width = pixels.shape[:2]
    header = struct.pack(">IIBBBBB", width, height, 8, 2 if pixels.ndim == 3 else 0, 0, 0, 0)
    rows = np.zeros((height, 1 + pixels[0].size), np.uint8)
    rows[:, 1:] = pixels.reshape(height, -1)
    parts = chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows.tobytes())), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)
