"""Online dictionary learning."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _lobcod
from ._arrays import Array, precision_of
from ._html import atoms_image, objective_curve, panel
from ._learn import first_atoms, read_images
from ._options import set_penalty, set_sizes, threads_for
from ._progress import Watcher, watching
from ._public import documented, public
from ._report import LearnPoint


class Stream:
    """Online dictionary learning, with memory for one image and the model.

    The influence of earlier images decays, so the dictionary adapts when the images change. A stream can be pickled between two
    calls; the copy continues with bit-identical results.

    {parameters}

    Examples
    --------
    >>> import lobcod
    >>> stream = lobcod.Stream(atoms=16, size=(5, 5), penalty=20)
    >>> image = lobcod.still_life(64).mean(axis=-1)
    >>> for part in (image[:32], image[32:]):
    ...     _ = stream.partial_fit(part)
    >>> stream.dictionary.shape, len(stream.history)
    ((16, 5, 5), 2)
    """

    @public("Stream")
    def __init__(self, **options: Any) -> None:
        set_penalty(options)
        set_sizes(options)
        if not isinstance(options["init"], str):
            options["atoms"], options["size"] = len(options["init"]), tuple(np.shape(options["init"])[-len(options["size"]) :])
        self._options = options
        self._first: Array | None = None
        self._model: _lobcod.Stream | None = None

    def partial_fit(self, image: Any, mask: Any = None, *, progress: Watcher = None) -> Stream:
        """Learn from one more image; if stopped by `progress`, the model is unchanged."""
        found = read_images([image], self._options, None if mask is None else [mask])
        if self._model is None:
            self._options["precision"] = precision_of(self._options["precision"], found[0].dtype)
            self._options["threads"] = threads_for(self._options["threads"], found[0].array.size)
            self._first = first_atoms(found, self._options)
            self._options["frozen"] = len(self._first) - self._options["atoms"]
            self._open()
        assert self._model is not None
        with watching(progress) as callback:
            self._model.partial_fit([found[0].fields()], callback)
        return self

    def _open(self) -> None:
        assert self._first is not None
        run = {**self._options, "time_limit": None, "callback": None}
        self._model = _lobcod.Stream(self._first, len(self._options["size"]), run)

    @property
    def dictionary(self) -> Array:
        """The atoms learnt so far."""
        if self._model is None:
            raise ValueError("the stream has seen no image yet; call partial_fit first")
        return self._model.dictionary()

    @property
    def history(self) -> list[LearnPoint]:
        """One point per image so far: its cost after learning from it."""
        return [] if self._model is None else [LearnPoint(**point) for point in self._model.history()]

    @property
    def penalty(self) -> float | None:
        """The penalty in units of the images, once it is known."""
        return None if self._model is None else self._model.penalty()

    def __repr__(self) -> str:
        seen, penalty = len(self.history), self.penalty
        size = "x".join(map(str, self._options["size"]))
        known = "" if penalty is None else f", penalty {penalty:.4g}"
        return f"<Stream: {self._options['atoms']} atoms of {size}, {seen} images seen{known}>"

    def _repr_html_(self) -> str:
        if self._model is None:
            return panel(repr(self))
        return panel(repr(self), atoms_image(self.dictionary, len(self._options["size"])), objective_curve(self.history))

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


Stream.__doc__ = documented("Stream", Stream.__doc__ or "")
