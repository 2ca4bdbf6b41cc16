"""Progress callbacks and bars."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Union

from ._described import described


@described
@dataclass(frozen=True)
class Progress:
    """The state of a run; passed to progress callbacks after each sweep."""

    seconds: Annotated[float, "Seconds since the solver began."]
    objective: Annotated[float, "Objective at the requested penalty when it was last measured."]
    relative_gap: Annotated[float | None, "Relative duality gap when it was last measured."]
    tolerance: Annotated[float, "Relative duality gap at which the work ends."]
    nonzeros: Annotated[int, "Non-zero codes."]
    discovery_sweeps: Annotated[int, "Sweeps over all positions so far."]
    support_sweeps: Annotated[int, "Sweeps over the non-zero codes so far."]
    stage_penalty: Annotated[float, "Penalty of the present stage; above the requested one during continuation."]
    pass_number: Annotated[int | None, "Number of the pass of learning; ``None`` in a pursuit."]
    fraction: Annotated[float, "Estimated fraction of the work that is done, from 0 to 1."]


Watcher = Union[bool, None, Callable[[Progress], Union[bool, None]]]
"""``True`` for a bar, or a function called with each :class:`Progress`, which may return ``False`` to stop."""

_STEPS = 1000


@contextmanager
def watching(progress: Watcher) -> Iterator[Callable[[dict[str, Any]], bool | None] | None]:
    """Return the function the extension calls after each sweep, if any."""
    if callable(progress):
        callback = progress
        yield lambda now: callback(Progress(**now))
    elif progress:
        bar = _Bar()
        try:
            yield bar.show
            bar.finish()
        finally:
            bar.close()
    else:
        yield None


class _Bar:
    """A tqdm bar if tqdm is installed, else a line on standard error."""

    def __init__(self) -> None:
        self._done = 0
        self._words = ""
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self._tqdm: Any = None
        else:
            self._tqdm = tqdm(total=_STEPS, bar_format="{l_bar}{bar}| {elapsed}<{remaining}{postfix}")

    def show(self, fields: dict[str, Any]) -> None:
        now = Progress(**fields)
        words = f"objective {now.objective:.6g}, {now.nonzeros} non-zeros"
        if now.relative_gap is not None:
            words += f", gap {now.relative_gap:.1e}"
        self._words = words
        self._advance(max(self._done, round(_STEPS * now.fraction)))

    def finish(self) -> None:
        """Fill the bar."""
        self._advance(_STEPS)

    def _advance(self, done: int) -> None:
        if self._tqdm is not None:
            self._tqdm.set_postfix_str(self._words, refresh=False)
            self._tqdm.update(done - self._done)
        else:
            sys.stderr.write(f"\r{100 * done // _STEPS:3d} %  {self._words}   ")
            sys.stderr.flush()
        self._done = done

    def close(self) -> None:
        if self._tqdm is not None:
            self._tqdm.close()
        else:
            sys.stderr.write("\n")
