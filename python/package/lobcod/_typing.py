"""Options of tasks, for type checkers: what may be given beside `return_report`, which decides what is returned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from ._progress import Watcher


class _Limits(TypedDict, total=False):
    channel_axis: int | None
    threads: int
    engine: str
    time_limit: float | None
    max_memory: int | None
    progress: Watcher
    dictionary: Any


class InpaintOptions(_Limits, total=False):
    penalty: float | str | None
    learn: str | None
    preset: str
    refit_known: bool
    variants: int | None
    windows: Sequence[float] | None
    density: float | None
    held_out: float
    seed: int
    precision: str | None


class DenoiseOptions(_Limits, total=False):
    sigma: float | None
    gain: float | None
    share: float | None
    method: str
    fit_atoms: bool
    scale: float | None
    penalty: float | None
    tolerance: float


class SeparateOptions(_Limits, total=False):
    penalty: float | None
    relative_penalty: float | None
    smooth: float
    alternations: int
    tolerance: float
    precision: str | None


class FuseOptions(_Limits, total=False):
    penalty: float
    smooth: float
    window: int
    fuse_base: str
    compose: str | None
    activity: str
    prefer: str
    align: str
    fast: bool
    alternations: int
    tolerance: float
    scale: float | None
