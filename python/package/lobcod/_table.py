"""The parameters of all functions, in one table that generates signatures, docstrings, stubs and checks.

Defaults are those of the Rust library. To add an option, add it here and where the extension reads its options.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from . import _lobcod
from ._kinds import (
    ARRAY,
    ATOMS,
    AXIS,
    BOX,
    BOXES,
    CAP,
    FLAG,
    IMAGES,
    MEMORY,
    NOT_GIVEN,
    NUMBER,
    NUMBERS,
    PATH,
    PENALTY_OR_AUTO,
    PRESET,
    PROGRESS,
    TEXT,
    THREADS,
    WEIGHTS,
    WHOLE,
    Kind,
    literal,
    optional,
    quoted,
    words,
)

DEFAULTS: dict[str, Any] = _lobcod.defaults()
"""Defaults of the Rust library, by function."""
_FROM_RUST = object()
REQUIRED = inspect.Parameter.empty
EMBEDDED: tuple[str, ...] = tuple(_lobcod.choices()["embedded"])
"""Names of the embedded dictionaries."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function."""

    name: str
    kind: Kind
    doc: str
    default: Any = _FROM_RUST

    def default_in(self, function: str) -> Any:
        """Return the default in a function."""
        return DEFAULTS[function][self.name] if self.default is _FROM_RUST else self.default

    def but(self, doc: str) -> Parameter:
        """Return the same parameter with another description."""
        return replace(self, doc=doc)


@dataclass(frozen=True)
class Function:
    """The parameters of a function: positional ones and keyword-only ones."""

    positional: tuple[Parameter, ...]
    keywords: tuple[Parameter, ...]

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters."""
        return self.positional + self.keywords


def _or_words(accepted: Sequence[str], other: Kind) -> Kind:
    return Kind(f"{literal(accepted)} | {other.annotation}", f"{quoted(accepted, ', ')} or {other.accepted}", other.convert)


_DICTIONARY_NAMES = (*EMBEDDED, "dct")

IMAGE = Parameter(
    "image",
    ARRAY,
    "Signal ``(t,)``, image ``(h, w)`` or volume ``(d, h, w)`` of any real type, with a channel axis if `channel_axis` is "
    "given. NaN samples and masked samples of masked arrays are missing. Samples are used unchanged, whatever their type.",
    REQUIRED,
)
DICTIONARY = Parameter(
    "dictionary",
    optional(_or_words(_DICTIONARY_NAMES, ATOMS)),
    "Atoms ``(m, h, w)``, or ``(m, c, h, w)`` for atoms that span the channels; the name of an embedded dictionary (see "
    ':func:`embedded_dictionary`), or ``"dct"``. Default: ``"natural"`` for images, otherwise ``"dct"``.',
    None,
)
PENALTY = Parameter(
    "penalty", optional(NUMBER), "Weight of the l1 norm, in units of the image. Default: set by `relative_penalty`."
)
RELATIVE_PENALTY = Parameter(
    "relative_penalty",
    optional(NUMBER),
    "The penalty as a fraction of ``penalty_max``, the smallest penalty for which all codes are zero. Default: "
    f"{DEFAULTS['relative_penalty']:g}.",
    None,
)
BORDER = Parameter(
    "border",
    words("border"),
    "Boundary condition: unconstrained, zeros, wrap-around, or only positions whose atoms are inside.",
)
TOLERANCE = Parameter("tolerance", NUMBER, "Stop when the relative duality gap is at most this.")
BASE = Parameter(
    "base",
    TEXT,
    'Base layer: ``"local-mean"``, ``"smooth"`` or ``"smooth:WEIGHT"`` is subtracted before coding; ``"joint-smooth"`` or '
    '``"joint-smooth:WEIGHT"`` is estimated together with the codes; ``"none"``.',
)
SEED = Parameter("seed", WHOLE, "Seed of the random number generator.")
CHANNEL_AXIS = Parameter(
    "channel_axis",
    AXIS,
    "Channel axis. Without it there are no channels; if the last axis looks like colour channels and no dictionary is given, a "
    "warning is issued, which ``channel_axis=None`` silences.",
    NOT_GIVEN,
)
PRECISION = Parameter(
    "precision", optional(words("precision")), "Default: double for float64 images, single for all others.", None
)
THREAD_COUNT = Parameter(
    "threads",
    THREADS,
    "Number of threads: 0 starts one per 8,192 samples, up to all cores; -1 uses all cores. The result is bit-identical for any "
    "number.",
)
ENGINE = Parameter("engine", words("engine"), "Hardware to run on: the CPU, or an NVIDIA GPU (single precision).")
TIME_LIMIT = Parameter("time_limit", optional(NUMBER), "Time limit in seconds.")
MAX_MEMORY = Parameter(
    "max_memory",
    optional(MEMORY),
    'Memory limit of the solver, in bytes or as in ``"500M"`` or ``"2GB"`` (powers of 1024); ``MemoryError`` if it needs more.',
)
PROGRESS_BAR = Parameter(
    "progress",
    PROGRESS,
    "``True`` shows a progress bar; a function is called with each :class:`Progress` and may return ``False`` to stop.",
    None,
)
CHECKPOINT = Parameter("checkpoint", optional(PATH), "File in which to save the state of the run.", None)
RESUME = Parameter("resume", optional(PATH), "Checkpoint to resume from; the result is that of an uninterrupted run.", None)
RETURN_REPORT = Parameter("return_report", FLAG, "Return the report as well.", False)
SMOOTH = Parameter("smooth", NUMBER, "Weight of the squared gradient of the smooth layer.")
ALTERNATIONS = Parameter(
    "alternations",
    WHOLE,
    "Number of alternations between pursuit and smooth layer; 0 keeps the smooth layer of the image itself.",
)
SCALE = Parameter(
    "scale",
    optional(NUMBER),
    "Sample value of white. Default: the maximum of an integer type; 1 for floats up to 1.5, otherwise 255.",
    None,
)

_HARDWARE = (THREAD_COUNT, ENGINE, TIME_LIMIT, MAX_MEMORY, PROGRESS_BAR)

_ATOMS = Parameter(
    "atoms",
    optional(WHOLE),
    f"Number of atoms. Default: {DEFAULTS['learn']['atoms']}, or as given by `size`.",
    None,
)
_SIZE = Parameter(
    "size",
    BOXES,
    "Size of an atom, without channels: ``(8, 8)``, ``16`` for signals, ``(5, 5, 5)`` for volumes; "
    "or several sizes with the number of atoms of each: ``[((8, 8), 16), ((12, 12), 32)]``.",
)
_INIT = Parameter(
    "init",
    _or_words(("random", "patches", "dct"), ATOMS),
    "Initial atoms; an array determines their number and size, and `size` only their number of axes.",
    "random",
)
_NONNEGATIVE = Parameter("nonnegative", FLAG, "Require non-negative codes.")
_MODEL = (
    _NONNEGATIVE,
    Parameter("zero_mean", FLAG, "Learn atoms whose mean is zero in every channel."),
    Parameter(
        "window",
        optional(TEXT),
        'Taper atoms towards the ends of their box: ``"tukey:ALPHA"``, where ``ALPHA`` is the tapered fraction of each axis.',
        None,
    ),
    Parameter(
        "rank",
        optional(WHOLE),
        "1 learns atoms that are one vector over the channels times one pattern (see ``u`` and ``v`` of the result). Default: "
        "any rank.",
        None,
    ),
    Parameter(
        "freeze",
        optional(_or_words(_DICTIONARY_NAMES[:-1], ATOMS)),
        "Atoms that stay as they are; the learnt ones follow them in the dictionary.",
        None,
    ),
)
_MASK = "True or 1 = observed, False or 0 = missing, between = weights; same shape as the image, with or without channels."

FUNCTIONS = {
    "encode": Function(
        (
            IMAGE.but(f"{IMAGE.doc} A list or tuple of images is coded image by image, and a list of codes is returned."),
            DICTIONARY,
            PENALTY,
            Parameter("mask", optional(ARRAY), f"{_MASK} For several images: one mask for all, or a list of masks.", None),
            BORDER,
            TOLERANCE,
        ),
        (
            RELATIVE_PENALTY,
            BASE,
            CHANNEL_AXIS,
            Parameter(
                "start",
                _or_words(("zero", "spread"), Kind("Codes | Sequence[Codes]", "codes")),
                "Initial codes; for several images a list of codes, or one name for all.",
                "zero",
            ),
            _NONNEGATIVE,
            Parameter("atom_weights", optional(WEIGHTS), "Penalty weight of each atom."),
            Parameter(
                "penalty_map",
                optional(ARRAY),
                "Penalty weight of each position, in the shape of the image or of the positions.",
                None,
            ),
            Parameter(
                "weights",
                optional(ARRAY),
                "Penalty weight of every coefficient, atoms first, then positions; 0 leaves it unpenalised, inf forbids it.",
                None,
            ),
            Parameter("elastic", NUMBER, "Weight ``mu`` of a quadratic term ``mu/2 ||a||^2`` (elastic net)."),
            Parameter(
                "joint",
                NUMBER,
                "Weight of the l2,1 norm over the channels, next to the l1 penalty, which may then be 0: "
                "channels coded with a one-channel dictionary share their support.",
            ),
            Parameter(
                "max_error",
                optional(NUMBER),
                "Constrained form: the smallest l1 norm whose residual has at most this norm, instead of a penalty.",
            ),
            Parameter(
                "loss",
                TEXT,
                'Loss of the residual: ``"squares"``, ``"l1"``, ``"huber:DELTA"`` (linear beyond DELTA) '
                'or ``"cauchy:SCALE"`` (by reweighting).',
            ),
            Parameter("debias", FLAG, "Replace the codes by least squares on their support."),
            Parameter(
                "max_nonzeros",
                optional(CAP),
                "Maximum number of non-zero codes per position: one number, or an array with one number per position.",
            ),
            Parameter(
                "schedule",
                words("schedule"),
                "Order in which positions are visited; all converge to the same optimum, tiles fastest.",
            ),
            Parameter("local", words("local"), "Solver for the codes at a single position."),
            Parameter("tile", optional(WHOLE), "Tile size, in positions along each axis."),
            Parameter("max_sweeps", WHOLE, "Maximum number of sweeps over all positions."),
            SEED.but('Seed of the order of layers (schedule ``"layers"``).'),
            PRECISION,
            THREAD_COUNT,
            ENGINE,
            TIME_LIMIT,
            MAX_MEMORY.but(
                'Memory limit of the solver, in bytes or as in ``"500M"`` or ``"2GB"`` (powers of 1024). Larger work is done in '
                "bands; ``MemoryError`` if that is not possible. Default: none; 80 % of free memory for arrays on disk."
            ),
            Parameter(
                "output",
                optional(PATH),
                "File (``.npz``) for the codes, which the command line reads too. Codes computed in bands are memory-mapped from "
                "it; by default from a temporary file.",
                None,
            ),
            CHECKPOINT,
            RESUME,
            PROGRESS_BAR,
        ),
    ),
    "learn": Function(
        (
            Parameter(
                "images",
                replace(IMAGES, annotation="ArrayLike | Sequence[ArrayLike]"),
                "Images as for :func:`encode`, of any sizes; an array of images of the same size, or a single image.",
                REQUIRED,
            ),
            _ATOMS,
            _SIZE,
            PENALTY,
            Parameter(
                "method",
                words("learning"),
                "Learning method: atom by atom, Algorithm 2 of the paper, or projected steepest descent.",
            ),
            SEED,
        ),
        (
            RELATIVE_PENALTY,
            Parameter(
                "masks", optional(Kind("Sequence[ArrayLike | None]", "a list of masks")), f"A mask for each image. {_MASK}", None
            ),
            _INIT,
            *_MODEL,
            Parameter(
                "grow",
                FLAG,
                "Start with one atom and add the others one at a time, each as the patch that is represented worst.",
            ),
            Parameter(
                "sort",
                optional(words("order")),
                "Order of the learnt atoms: by the variance they explain, largest first. Default: that of learning.",
                None,
            ),
            Parameter("passes", WHOLE, "Number of passes over all images."),
            Parameter(
                "step",
                optional(words("step")),
                'Step rule of method ``"stochastic"``. Default: ``"paper"``, or ``"adagrad"`` with rank 1.',
                None,
            ),
            Parameter("step_size", optional(NUMBER), 'Step size of method ``"stochastic"``.', None),
            Parameter(
                "decay",
                optional(TEXT),
                'Step decay of method ``"stochastic"``: ``"none"``, ``"online:N"`` or ``"exponential:F"``.',
                None,
            ),
            Parameter("rounds", WHOLE, 'Number of alternations between codes and atoms in a pass of method ``"atomwise"``.'),
            Parameter("target_objective", optional(NUMBER), "Stop learning when the objective reaches this value."),
            BASE,
            BORDER,
            CHANNEL_AXIS,
            TOLERANCE.but("Relative duality gap of the final pursuit."),
            PRECISION,
            *_HARDWARE[:-1],
            CHECKPOINT,
            RESUME,
            PROGRESS_BAR,
        ),
    ),
    "Stream": Function(
        (_ATOMS, _SIZE, PENALTY, SEED),
        (
            RELATIVE_PENALTY,
            _INIT,
            *_MODEL,
            Parameter("stream_memory", WHOLE, "Maximum effective number of images remembered."),
            BASE,
            BORDER,
            CHANNEL_AXIS,
            PRECISION,
            THREAD_COUNT,
            ENGINE,
            MAX_MEMORY,
        ),
    ),
    "inpaint": Function(
        (
            IMAGE,
            Parameter("known", optional(ARRAY), f"{_MASK} Default: all but NaN and masked samples.", None),
        ),
        (
            Parameter(
                "dictionary",
                Kind(f"{DICTIONARY.kind.annotation} | Sequence[SupportsArray | str]", "dictionaries"),
                "Atoms as for :func:`encode`, or a list of dictionaries whose results are averaged.",
                None,
            ),
            Parameter(
                "penalty",
                optional(PENALTY_OR_AUTO),
                "Penalty of the final codes, in units of the image. Default: chosen to predict held-out samples.",
            ),
            Parameter(
                "learn",
                Kind('Literal["none", "image"] | None', '"none", "image" or None'),
                "Also learn atoms from the damaged image. Default: depends on the preset.",
                None,
            ),
            Parameter(
                "preset",
                PRESET,
                "Defaults for `learn`, `windows`, `variants`, `density`, `groups` and `dictionary`.",
                "standard",
            ),
            Parameter(
                "fill",
                words("fill"),
                "What wide holes of images are filled with: what the atoms predict, or (for detailed surroundings, or always) "
                "content copied from elsewhere in the image.",
            ),
            Parameter("refit_known", FLAG, "Replace known samples by the fit too, instead of keeping them.", False),
            Parameter(
                "variants",
                optional(WHOLE),
                "Number of mirrored and rotated copies of each dictionary to average; 0: none where groups suffice.",
                None,
            ),
            Parameter(
                "windows",
                optional(NUMBERS),
                "Window sizes of the base layer, in atom lengths; the results are averaged.",
                None,
            ),
            Parameter(
                "density",
                optional(NUMBER),
                "Penalty of the dense initial codes, in standard deviations of the detail layer.",
                None,
            ),
            Parameter(
                "groups",
                optional(WHOLE),
                "Rounds that improve the result by joint coding of similar patches; 0 is none.",
                None,
            ),
            Parameter("held_out", NUMBER, "Fraction of known samples held out."),
            SEED.but("Seed for choosing held-out samples."),
            CHANNEL_AXIS,
            PRECISION,
            *_HARDWARE,
            RETURN_REPORT,
        ),
    ),
    "fuse": Function(
        (
            Parameter(
                "images",
                IMAGES,
                "Two or more frames of the same shape, greyscale or with three channels.",
                REQUIRED,
            ),
            Parameter("mode", words("mode"), "What differs between the frames."),
        ),
        (
            DICTIONARY.but("Single-channel atoms, as for :func:`encode`."),
            Parameter("penalty", NUMBER, "Weight of the l1 norm, for lightness in 0..100."),
            SMOOTH.but("Weight of the squared gradient of the smooth layers."),
            Parameter("window", WHOLE, "Side of the window over which activity is averaged, in pixels."),
            Parameter("fuse_base", words("fuse_base"), "How smooth layers are combined if the image is composed of codes."),
            Parameter(
                "compose",
                optional(words("compose")),
                "What the image is composed of: pixels of the frames, or codes and smooth layers as in the paper. Default: "
                "pixels, or codes if the base is averaged.",
                None,
            ),
            Parameter(
                "activity",
                words("activity"),
                "Weight of codes in the activity: by the roughness of the atom, or equal as in the paper.",
            ),
            Parameter("prefer", words("prefer"), "Frame to use where the activity does not decide."),
            Parameter("align", words("align"), "How the frames are aligned."),
            Parameter("fast", FLAG, "Measure activity at half resolution."),
            Parameter(
                "decision",
                optional(ARRAY),
                "Index of the frame to take each pixel of the fused image from; NaN where the activity decides.",
                None,
            ),
            ALTERNATIONS.but(
                "Number of alternations between pursuit and smooth layer; 0 keeps the smooth layer of each frame itself."
            ),
            TOLERANCE.but("Relative duality gap of the separation of each frame."),
            SCALE,
            CHANNEL_AXIS,
            *_HARDWARE,
            RETURN_REPORT.but("Return the report as well; its ``decision`` is the index of the frame each pixel was taken from."),
        ),
    ),
    "denoise": Function(
        (
            IMAGE.but("Image as for :func:`encode`, without missing samples."),
            Parameter(
                "noise",
                TEXT,
                'Noise model: ``"auto"`` (detected; an image without noise is unchanged), ``"gaussian"``, ``"correlated"``, '
                '``"poisson"``, ``"mixed"`` or ``"impulse"``. Its level may follow, as on the command line: '
                '``"gaussian:25"``, ``"poisson:2"``, ``"mixed:2,5"``, ``"impulse:0.1"``.',
            ),
        ),
        (
            Parameter(
                "sigma",
                optional(NUMBER),
                "Standard deviation of Gaussian or correlated noise (of the read noise if mixed). Default: estimated.",
                None,
            ),
            Parameter("gain", optional(NUMBER), "Sample value of one count. Default: estimated; 1 for mixed noise.", None),
            Parameter("share", optional(NUMBER), "Largest fraction of samples hit by impulses. Default: estimated.", None),
            Parameter(
                "strength",
                NUMBER,
                "Factor applied to the noise level: below 1 keeps more detail and noise, above 1 smooths more. Impulses are "
                "always removed entirely.",
            ),
            DICTIONARY.but("Single-channel atoms, as for :func:`encode`."),
            Parameter(
                "preset",
                optional(PRESET),
                "Trade-off between speed and quality for Gaussian and Poisson noise: fast codes each patch separately, "
                "the others code groups of similar patches. Default: standard; fast with a dictionary or without `fit_atoms`.",
                None,
            ),
            Parameter(
                "method",
                optional(words("denoising")),
                "Patch by patch, or one pursuit of the whole image with a certificate, instead of the method of the preset.",
                None,
            ),
            Parameter("fit_atoms", FLAG, "Adapt the atoms to the noisy image first (local, impulse)."),
            SCALE,
            Parameter(
                "penalty",
                optional(NUMBER),
                "Weight of the l1 norm (convolutional, impulse). Default: derived from the noise level.",
            ),
            TOLERANCE.but("Relative duality gap of pursuits of the whole image."),
            CHANNEL_AXIS,
            *_HARDWARE,
            RETURN_REPORT,
        ),
    ),
    "separate": Function(
        (IMAGE.but("Image as for :func:`encode`, without missing samples."),),
        (
            DICTIONARY,
            PENALTY,
            RELATIVE_PENALTY,
            SMOOTH,
            ALTERNATIONS,
            TOLERANCE.but("Stop when the relative joint duality gap is at most this."),
            CHANNEL_AXIS,
            PRECISION,
            *_HARDWARE,
            RETURN_REPORT.but("Return the report as a third value."),
        ),
    ),
    "base_layer": Function(
        (
            IMAGE,
            BASE,
            Parameter(
                "size",
                optional(BOX),
                "Size of an atom. Default: 16, (8, 8) or (5, 5, 5), depending on the number of axes.",
                None,
            ),
            Parameter("known", optional(ARRAY), _MASK, None),
        ),
        (CHANNEL_AXIS, PRECISION),
    ),
}
"""The public functions by name."""
