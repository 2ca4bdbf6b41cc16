"""Progress: callbacks, and bars."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Union


@dataclass(frozen=True)
class Progress:
    """Where the work stands; handed to progress callbacks after every sweep."""

    seconds: float
    """Seconds since the solver began."""
    objective: float
    """Objective at the asked penalty, exact when it was last measured."""
    relative_gap: float | None
    """Relative duality gap when it was last measured."""
    tolerance: float
    """Relative duality gap at which the work ends."""
    nonzeros: int
    """Non-zero codes."""
    discovery_sweeps: int
    """Sweeps over all needles so far."""
    support_sweeps: int
    """Sweeps over the non-zero codes so far."""
    stage_penalty: float
    """Penalty of the present stage; above the asked one during continuation."""
    pass_number: int | None
    """The pass of learning this belongs to; ``None`` in a pursuit."""


Watcher = Union[bool, None, Callable[[Progress], Union[bool, None]]]
"""``True``: a bar; a function: called with every :class:`Progress`, and returns ``False`` to stop the work."""

_STEPS = 1000


@contextmanager
def watching(progress: Watcher, passes: int | None = None) -> Iterator[Callable[[dict[str, Any]], bool | None] | None]:
    """What the extension calls after every sweep, if anything."""
    if callable(progress):
        callback = progress
        yield lambda now: callback(Progress(**now))
    elif progress:
        bar = _Bar(passes)
        try:
            yield bar.show
        finally:
            bar.close()
    else:
        yield None


class _Bar:
    """A bar by tqdm where it is installed, else a line on standard error."""

    def __init__(self, passes: int | None) -> None:
        self._passes = passes
        self._first_gap: float | None = None
        self._done = 0
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self._tqdm: Any = None
        else:
            self._tqdm = tqdm(total=_STEPS, bar_format="{l_bar}{bar}| {elapsed}{postfix}")

    def show(self, fields: dict[str, Any]) -> None:
        now = Progress(**fields)
        words = f"objective {now.objective:.6g}, {now.nonzeros} non-zeros"
        if now.relative_gap is not None:
            words += f", gap {now.relative_gap:.1e}"
        done = max(self._done, round(_STEPS * self._share(now)))
        if self._tqdm is not None:
            self._tqdm.set_postfix_str(words, refresh=False)
            self._tqdm.update(done - self._done)
        else:
            sys.stderr.write(f"\r{100 * done // _STEPS:3d} %  {words}   ")
            sys.stderr.flush()
        self._done = done

    def _share(self, now: Progress) -> float:
        if now.pass_number is not None:
            return min(1.0, now.pass_number / self._passes) if self._passes else 0.0
        # The gap shrinks by about the same factor a sweep, so its logarithm is what measures the way done.
        if not now.relative_gap:
            return 0.0
        first = self._first_gap = self._first_gap or now.relative_gap
        target = max(now.tolerance, sys.float_info.min)
        if now.relative_gap <= target:
            return 1.0
        return max(0.0, math.log(first / now.relative_gap) / math.log(first / target)) if first > target else 0.0

    def close(self) -> None:
        if self._tqdm is not None:
            self._tqdm.close()
        else:
            sys.stderr.write("\n")
