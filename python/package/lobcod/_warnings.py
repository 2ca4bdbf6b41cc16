"""Warnings of the package."""

from __future__ import annotations

import os
import sys
import warnings

_PACKAGE = os.path.dirname(__file__)


class ConvergenceWarning(UserWarning):
    """The solver stopped before it reached the requested duality gap."""

    __module__ = "lobcod"


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that points to the caller outside the package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == _PACKAGE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
