"""Convolutional sparse coding by local block coordinate descent, with a certificate of optimality.

========================================  ===========================================================================
:func:`encode`, :func:`decode`            sparse codes of an image, and its reconstruction
:func:`learn`, :class:`Stream`            dictionary learning, in batch or online
:func:`inpaint`                           filling of missing samples
:func:`fuse`                              fusion of focus stacks or exposures
:func:`denoise`                           noise removal
:func:`separate`                          separation into a smooth layer and texture
:class:`ConvolutionalDictionaryLearning`  a scikit-learn estimator
:mod:`lobcod.plot`                        plots of atoms, codes, histories and reports with matplotlib
:func:`embedded_dictionary`               built-in dictionaries
:func:`from_sporco`, :func:`from_alphacsc`  dictionaries from other packages
========================================  ===========================================================================

Images are numpy arrays ``(h, w)`` of any real type, or ``(h, w, c)`` with ``channel_axis=-1``; signals ``(t,)`` and volumes
``(d, h, w)`` are supported too. Dictionaries are ``(m, h, w)``, or ``(m, c, h, w)`` for atoms that span channels. Penalties are
in units of the image, or relative to the smallest penalty for which all codes are zero. Long computations release the
interpreter lock and stop on Ctrl-C.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._arrays import Array
from ._codes import Codes
from ._denoise import denoise
from ._dictionaries import (
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
from ._images import base_layer, psnr, ssim, still_life
from ._inpaint import inpaint
from ._learn import LearnResult, learn
from ._lobcod import VERSION as __version__
from ._progress import Progress
from ._report import DenoiseReport, FuseReport, HistoryPoint, InpaintReport, LearnPoint, LearnReport, Report, SeparateReport
from ._separate import separate
from ._stream import Stream
from ._table import EMBEDDED
from ._warnings import ConvergenceWarning

if TYPE_CHECKING:
    from . import plot
    from .estimator import ConvolutionalDictionaryLearning

__all__ = [
    "EMBEDDED",
    "Array",
    "Codes",
    "ConvergenceWarning",
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
    # Loaded lazily: they need packages that the rest does not.
    if name == "ConvolutionalDictionaryLearning":
        from .estimator import ConvolutionalDictionaryLearning

        return ConvolutionalDictionaryLearning
    if name == "plot":
        import importlib

        return importlib.import_module(".plot", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
