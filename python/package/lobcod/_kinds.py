"""Kinds of options: their types, accepted values and conversions for the extension."""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from . import _lobcod


class NotGiven(Enum):
    """Default of an argument for which ``None`` is a meaningful value."""

    NOT_GIVEN = "not given"

    def __repr__(self) -> str:
        return f"<{self.value}>"


NOT_GIVEN = NotGiven.NOT_GIVEN


@dataclass(frozen=True)
class Kind:
    """What an option accepts."""

    annotation: str
    """Its type, as written in stubs."""
    accepted: str
    """What it accepts, for error messages and docstrings."""
    convert: Callable[[Any], Any] = lambda value: value
    """Converts a value for the extension; ``TypeError`` or ``ValueError``, without a message, if it is not accepted."""

    def check(self, name: str, value: Any) -> Any:
        """Convert a value for the extension, or raise an error with the argument, the value and what is accepted."""
        try:
            return self.convert(value)
        except (TypeError, ValueError, OverflowError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{name} is {_shortened(value)}, but must be {self.accepted}") from None


def _shortened(value: Any) -> str:
    text = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) and value.ndim else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _number(value: Any) -> float:
    if isinstance(value, (bool, np.bool_, str, bytes)) or np.ndim(value):
        raise TypeError
    return float(value)


def _whole(value: Any) -> int:
    if isinstance(value, (bool, np.bool_)):
        raise TypeError
    number = operator.index(value)
    if not 0 <= number < 2**63:
        raise ValueError
    return number


def _flag(value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError
    return bool(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _threads(value: Any) -> int:
    return -1 if not isinstance(value, (bool, np.bool_)) and operator.index(value) == -1 else _whole(value)


def _memory(value: Any) -> int:
    """Parse bytes: a number, or a string as on the command line, with units that are powers of 1024."""
    if isinstance(value, str):
        parts = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?)(?:i?b)?\s*", value.lower())
        if parts is None:
            raise ValueError
        value = float(parts[1]) * 1024.0 ** " kmgt".index(parts[2] or " ")
    bytes_ = int(_number(value))
    if not 0 <= bytes_ < 2**63:
        raise ValueError
    return bytes_


def _box(value: Any) -> tuple[int, ...]:
    return tuple(_whole(n) for n in (value if np.ndim(value) else [value]))


def _boxes(value: Any) -> Any:
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], (list, tuple)):
        return [(_box(size), _whole(count)) for size, count in value]
    return _box(value)


def _axis(value: Any) -> Any:
    return value if value is None or value is NOT_GIVEN else operator.index(value)


def _progress(value: Any) -> Any:
    if not (value is None or isinstance(value, bool) or callable(value)):
        raise TypeError
    return value


def _penalty(value: Any) -> Any:
    return value if isinstance(value, str) else _number(value)


def _cap(value: Any) -> Any:
    return value if np.ndim(value) else _whole(value)


def _atoms(value: Any) -> Any:
    if not (isinstance(value, (str, list)) or hasattr(value, "__array__") or hasattr(value, "__dlpack__")):
        raise TypeError
    return value


def _several(value: Any) -> Any:
    if isinstance(value, str) or not (hasattr(value, "__iter__") or hasattr(value, "__getitem__")):
        raise TypeError
    return value


def _weights(value: Any) -> list[float]:
    return [float(weight) for weight in np.ravel(np.asarray(value, dtype=float))]


def optional(kind: Kind) -> Kind:
    """Return a kind that also accepts ``None``."""
    convert = kind.convert
    return Kind(f"{kind.annotation} | None", f"{kind.accepted}, or None", lambda value: None if value is None else convert(value))


def quoted(words: Sequence[str], joint: str = " or ") -> str:
    """Join quoted words, the last after an "or"."""
    *others, last = (f'"{word}"' for word in words)
    return f"{', '.join(others)}{joint}{last}" if others else last


def literal(words: Sequence[str]) -> str:
    """Return the ``Literal`` type of these words."""
    return f"Literal[{quoted(words, ', ')}]"


def words(name: str) -> Kind:
    """Return a kind for one of the names the extension accepts for an option; the extension checks them."""
    accepted: list[str] = _lobcod.choices()[name]
    return Kind(literal(accepted), quoted(accepted), _text)


NUMBER = Kind("float", "a number", _number)
WHOLE = Kind("int", "a non-negative integer", _whole)
FLAG = Kind("bool", "True or False", _flag)
TEXT = Kind("str", "a text", _text)
NUMBERS = Kind("Sequence[float]", "a list of numbers", lambda values: [_number(value) for value in values])
ARRAY = Kind("ArrayLike", "an array")
ATOMS = Kind("SupportsArray", "an array of atoms", _atoms)
IMAGES = Kind("Sequence[ArrayLike]", "a sequence of images", _several)
CAP = Kind("ArrayLike", "a non-negative integer or an array of them", _cap)
PENALTY_OR_AUTO = Kind('float | Literal["auto"]', 'a number or "auto"', _penalty)
BOXES = Kind(
    "Sequence[int] | int | Sequence[tuple[Sequence[int] | int, int]]",
    "an integer for each axis, or a list of pairs of a size and a number of atoms",
    _boxes,
)
BOX = Kind("Sequence[int] | int", "an integer for each axis", _box)
PRESET = Kind('Literal["fast", "standard", "best"]', '"fast", "standard" or "best"')
PATH = Kind("str | os.PathLike[str]", "a path", os.fspath)
AXIS = Kind("int | None", "the number of an axis, or None", _axis)
THREADS = Kind("int", "a number of threads, 0 (chosen by size) or -1 (all cores)", _threads)
MEMORY = Kind("int | str", 'a number of bytes or an amount such as "500M" or "2GB"', _memory)
PROGRESS = Kind("Watcher", "True, False or a function", _progress)
WEIGHTS = Kind("ArrayLike", "an array of numbers", _weights)
