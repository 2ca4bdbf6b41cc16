"""Learning from images that come one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _lobcod
from ._arrays import Array, precision_of
from ._learn import first_atoms, learn_options, pictures
from ._options import penalty_options, run_options
from ._progress import Watcher, watching
from ._report import LearnPoint


class Stream:
    """A dictionary that learns from one image after the other, with memory for one image and the model.

    What was seen long ago fades, so the dictionary follows when the images change. Parameters are those of :func:`learn`;
    `stream_memory` is the number of images that are remembered at most. A stream can be pickled between two calls, and goes on to
    the same bits.

    Examples
    --------
    >>> import lobcod
    >>> stream = lobcod.Stream(atoms=16, size=(5, 5), penalty=20)
    >>> picture = lobcod.still_life(64).mean(axis=-1)
    >>> for part in (picture[:32], picture[32:]):
    ...     _ = stream.partial_fit(part)
    >>> stream.dictionary.shape, len(stream.history)
    ((16, 5, 5), 2)
    """

    def __init__(
        self,
        atoms: int = 81,
        size: Sequence[int] | int = (8, 8),
        penalty: float | None = None,
        seed: int = 0,
        *,
        relative_penalty: float | None = None,
        init: Any = "random",
        stream_memory: int = 32,
        base: str = "local-mean",
        border: str = "free",
        channel_axis: int | None = None,
        precision: str | None = None,
        threads: int = 0,
        engine: str = "cpu",
        max_memory: int | None = None,
    ) -> None:
        self._atoms, self._size, self._init = atoms, tuple(int(n) for n in np.atleast_1d(np.asarray(size))), init
        self._seed, self._base, self._channel_axis, self._precision = seed, base, channel_axis, precision
        self._penalty = penalty_options(penalty, relative_penalty)
        self._options = learn_options(border=border, base=base, seed=seed, stream_memory=stream_memory)
        self._limits: dict[str, Any] = {"threads": threads, "engine": engine, "max_memory": max_memory}
        self._first: Array | None = None
        self._model: _lobcod.Stream | None = None

    def partial_fit(self, image: Any, mask: Any = None, *, progress: Watcher = None) -> Stream:
        """Learns from one more image; stopped by `progress`, it leaves the model as it was."""
        masks = None if mask is None else [mask]
        found = pictures([image], len(self._size), self._channel_axis, masks)
        if self._model is None:
            precision = self._precision = precision_of(self._precision, found[0].dtype)
            self._first = first_atoms(self._init, found, self._atoms, self._size, self._base, self._seed, precision)
            self._open()
        assert self._model is not None
        with watching(progress) as callback:
            self._model.partial_fit([found[0].given()], callback)
        return self

    def _open(self) -> None:
        run = run_options(self._precision or "f32", 1e-2, None, **self._limits)
        assert self._first is not None
        self._model = _lobcod.Stream(self._first, len(self._size), self._penalty, self._options, run)

    @property
    def dictionary(self) -> Array:
        """The atoms as they stand."""
        if self._model is None:
            raise ValueError("the stream has seen no image yet; call partial_fit first")
        return self._model.dictionary()

    @property
    def history(self) -> list[LearnPoint]:
        """One point for every image so far: what it cost when it had been learnt from."""
        return [] if self._model is None else [LearnPoint(**point) for point in self._model.history()]

    @property
    def penalty(self) -> float | None:
        """The penalty in units of the images, once it is known."""
        return None if self._model is None else self._model.penalty()

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state["_model"] = None if self._model is None else self._model.state()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        model = state["_model"]
        self.__dict__.update({**state, "_model": None})
        if model is not None:
            self._open()
            assert self._model is not None
            self._model.restore(model)
