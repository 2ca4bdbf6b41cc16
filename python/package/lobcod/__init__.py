"""Convolutional sparse coding by local block coordinate descent, with a certificate of optimality.

========================================  ===========================================================================
:func:`encode`, :func:`decode`            sparse codes of an image, and the image back
:func:`learn`, :class:`Stream`            a dictionary from images, all at once or one after the other
:func:`inpaint`                           an image without its holes
:func:`fuse`                              one picture from a focus stack or from exposures
:func:`denoise`                           a clean image from a noisy one
:func:`separate`                          a smooth layer and texture
:class:`ConvolutionalDictionaryLearning`  the same in the manner of scikit-learn
:mod:`lobcod.plot`                        atoms, codes, histories and reports with matplotlib
:func:`embedded_dictionary`               dictionaries that come with the package
:func:`from_sporco`, :func:`from_alphacsc`  dictionaries of other packages
========================================  ===========================================================================

Images are numpy arrays ``(h, w)`` of any real type, with ``channel_axis=-1`` ``(h, w, c)``; signals ``(t,)`` and volumes
``(d, h, w)`` too. Dictionaries are ``(m, h, w)``, or ``(m, c, h, w)`` for atoms that span channels. Penalties are in units of
the image, or relative to the smallest one with an all-zero answer. Long work leaves the interpreter to other threads and obeys
Ctrl-C.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._arrays import Array
from ._codes import Codes
from ._denoise import denoise
from ._dictionaries import (
    EMBEDDED,
    cosine_dictionary,
    embedded_dictionary,
    from_alphacsc,
    from_sporco,
    load_dictionary,
    random_dictionary,
    save_dictionary,
    to_alphacsc,
    to_sporco,
)
from ._encode import decode, encode
from ._fuse import fuse
from ._inpaint import inpaint
from ._learn import LearnResult, learn
from ._lobcod import VERSION as __version__
from ._pictures import base_layer, psnr, ssim, still_life
from ._progress import Progress
from ._report import DenoiseReport, FuseReport, HistoryPoint, InpaintReport, LearnPoint, LearnReport, Report, SeparateReport
from ._separate import separate
from ._stream import Stream

if TYPE_CHECKING:
    from . import plot
    from .estimator import ConvolutionalDictionaryLearning

__all__ = [
    "EMBEDDED",
    "Array",
    "Codes",
    "ConvolutionalDictionaryLearning",
    "DenoiseReport",
    "FuseReport",
    "HistoryPoint",
    "InpaintReport",
    "LearnPoint",
    "LearnReport",
    "LearnResult",
    "Progress",
    "Report",
    "SeparateReport",
    "Stream",
    "__version__",
    "base_layer",
    "cosine_dictionary",
    "decode",
    "denoise",
    "embedded_dictionary",
    "encode",
    "from_alphacsc",
    "from_sporco",
    "fuse",
    "inpaint",
    "learn",
    "load_dictionary",
    "plot",
    "psnr",
    "random_dictionary",
    "save_dictionary",
    "separate",
    "ssim",
    "still_life",
    "to_alphacsc",
    "to_sporco",
]


def __getattr__(name: str) -> Any:
    # Loaded when first used: they need packages that the rest does without.
    if name == "ConvolutionalDictionaryLearning":
        from .estimator import ConvolutionalDictionaryLearning

        return ConvolutionalDictionaryLearning
    if name == "plot":
        import importlib

        return importlib.import_module(".plot", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
