"""Dictionary learning and coding as a scikit-learn estimator."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from ._arrays import Array, SupportsArray, warn_of_colour
from ._codes import Codes
from ._encode import encode
from ._images import base_layer
from ._kinds import NOT_GIVEN
from ._learn import learn
from ._options import usual_size
from ._stream import Stream
from ._table import DEFAULTS
from ._warnings import warn

try:
    from scipy.sparse import csr_matrix
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils import Tags, check_array, check_random_state
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError("ConvolutionalDictionaryLearning needs scikit-learn 1.6 or later; pip install scikit-learn") from error

_ALIASES = {"n_components": "atoms", "random_state": "seed", "max_iter": "passes", "n_jobs": "threads"}
_MOST_NAMES_AT_ONCE = 100_000


class ConvolutionalDictionaryLearning(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Convolutional dictionary learning: represents samples as sparse sums of shifted atoms.

    A sample is a signal ``(t,)``, an image ``(h, w)`` or a volume ``(d, h, w)``, with a channel axis if `channel_axis`
    is given; ``X`` is an array of samples of the same size, or a list of samples of any sizes. NaN and masked values are missing.

    Parameters
    ----------
    n_components : int
        Number of atoms.
    size : sequence of int, optional
        Size of an atom. Default: 16, (8, 8) or (5, 5, 5), depending on the number of axes.
    penalty, relative_penalty, method, init, base, border, tolerance, channel_axis, stream_memory, engine, nonnegative,
    zero_mean, window, rank, grow
        As for :func:`lobcod.learn` and :class:`lobcod.Stream`; `channel_axis` counts the axes of a sample, and `base` is
        ``"none"`` by default, so that the codes alone represent the samples.
    random_state : int, RandomState or None
        Seed of the random number generator; ``None`` chooses a random seed.
    max_iter : int
        Number of passes over all samples.
    sample_shape : sequence of int, optional
        Shape of a sample if the rows of ``X`` are flattened samples.
    n_jobs : int, optional
        Number of threads; -1 uses all cores. Default: depends on the size of the samples.
    atoms, seed, passes, threads : optional
        Aliases of `n_components`, `random_state`, `max_iter` and `n_jobs`, which take precedence if given.

    Attributes
    ----------
    components_ : array
        The atoms, ``(m, h, w)`` or ``(m, c, h, w)``.
    penalty_ : float
        The penalty in units of the samples.
    report_ : LearnReport
        The report of the learner (after `fit`).
    stream_ : Stream
        The stream (after `partial_fit`).
    n_iter_ : int
        Number of passes over all samples, or of samples seen by `partial_fit`.

    Examples
    --------
    >>> import lobcod
    >>> image = lobcod.still_life(64).mean(axis=-1)
    >>> X = image.reshape(2, 32, 64)
    >>> model = lobcod.ConvolutionalDictionaryLearning(n_components=8, size=(5, 5), max_iter=3).fit(X)
    >>> model.transform(X).shape
    (2, 19584)
    >>> model.inverse_transform(model.transform(X)).shape
    (2, 32, 64)
    """

    def __init__(
        self,
        n_components: int = 81,
        size: Sequence[int] | int | None = None,
        penalty: float | None = None,
        *,
        relative_penalty: float | None = None,
        method: Literal["atomwise", "stochastic", "batch"] = "atomwise",
        random_state: int | np.random.RandomState | None = 0,
        init: Literal["random", "patches", "dct"] | SupportsArray = "random",
        max_iter: int = 40,
        base: str = "none",
        border: Literal["free", "zero", "periodic", "inside"] = "free",
        tolerance: float = 1e-3,
        channel_axis: int | None = None,
        sample_shape: Sequence[int] | None = None,
        stream_memory: int = 32,
        nonnegative: bool = False,
        zero_mean: bool = False,
        window: str | None = None,
        rank: int | None = None,
        grow: bool = False,
        n_jobs: int | None = None,
        engine: Literal["cpu", "cuda", "auto"] = "cpu",
        atoms: int | None = None,
        seed: int | None = None,
        passes: int | None = None,
        threads: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.size = size
        self.penalty = penalty
        self.relative_penalty = relative_penalty
        self.method = method
        self.random_state = random_state
        self.init = init
        self.max_iter = max_iter
        self.base = base
        self.border = border
        self.tolerance = tolerance
        self.channel_axis = channel_axis
        self.sample_shape = sample_shape
        self.stream_memory = stream_memory
        self.nonnegative = nonnegative
        self.zero_mean = zero_mean
        self.window = window
        self.rank = rank
        self.grow = grow
        self.n_jobs = n_jobs
        self.engine = engine
        self.atoms = atoms
        self.seed = seed
        self.passes = passes
        self.threads = threads

    def fit(self, X: Any, y: Any = None) -> ConvolutionalDictionaryLearning:
        """Learn the atoms from all samples at once. `y` is ignored."""
        samples = self._samples(X, reset=True)
        self.components_, self.report_ = learn(
            samples,
            method=self.method,
            init=self.init,
            penalty=self.penalty,
            relative_penalty=self.relative_penalty,
            passes=self._named("max_iter"),
            tolerance=self.tolerance,
            grow=self.grow,
            **self._model_options(samples),
        )
        self.penalty_, self.n_iter_ = self.report_.penalty, self.report_.passes
        self.__dict__.pop("stream_", None)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> ConvolutionalDictionaryLearning:
        """Learn from more samples, one at a time, starting from the atoms of `fit` if it was called. `y` is ignored."""
        if self.grow:
            raise ValueError("partial_fit never adds atoms; call fit, or set grow=False")
        samples = self._samples(X, reset=not hasattr(self, "components_"))
        if not hasattr(self, "stream_"):
            fitted = hasattr(self, "components_")
            self.stream_ = Stream(
                init=self.components_ if fitted else self.init,
                penalty=self.penalty_ if fitted else self.penalty,
                relative_penalty=None if fitted else self.relative_penalty,
                stream_memory=self.stream_memory,
                **self._model_options(samples),
            )
        for sample in samples:
            self.stream_.partial_fit(sample)
        self.components_, self.n_iter_ = self.stream_.dictionary, len(self.stream_.history)
        self.penalty_ = float(self.stream_.penalty or 0.0)
        return self

    def encode(self, sample: Any) -> Codes:
        """Return the codes of one sample, with a certificate."""
        check_is_fitted(self)
        return self._encode([self._unflattened(_filled(sample)[None])[0]])[0]

    def transform(self, X: Any) -> Any:
        """Return the codes of samples of the same size as a sparse matrix (CSR), with one row per sample.

        The columns are the flattened maps of :meth:`lobcod.Codes.maps`: atom after atom, each with all its positions.
        """
        check_is_fitted(self)
        samples = self._samples(X, reset=False)
        if any(np.shape(sample) != np.shape(samples[0]) for sample in samples):
            raise ValueError("the samples have different sizes, so their codes cannot be rows of a matrix; use encode on each")
        codes = self._encode(samples)
        rows = np.cumsum([0, *map(len, codes)])
        columns = np.concatenate([_columns(one) for one in codes])
        values = np.concatenate([one.value for one in codes])
        matrix = csr_matrix((values, columns, rows), shape=(len(codes), _column_count(codes[0])))
        matrix.sort_indices()
        return matrix

    def inverse_transform(self, X: Any, shape: Sequence[int] | None = None, *, base: Any = None) -> Array:
        """Reconstruct samples of this shape from rows of codes. Default: the shape of the fitted samples.

        `base` is added to them. Where the estimator codes samples without their base layers it must be given: the layers
        themselves (see :meth:`base_layers`), or 0 for the texture alone.
        """
        check_is_fitted(self)
        if base is None and self.base != "none":
            raise ValueError(
                f"the codes do not contain the base layers (base is {self.base!r}); "
                "pass base=model.base_layers(samples), or base=0 for the texture only"
            )
        rows = csr_matrix(X)
        shape = self._sample_shape if shape is None else tuple(shape)
        empty = self._no_codes(shape)
        if rows.shape[1] != _column_count(empty):
            raise ValueError(
                f"a row has {rows.shape[1]} codes, but a sample of {shape} has {_column_count(empty)}; pass their shape"
            )
        found = self._flattened(np.stack([self._texture(rows[i], empty) for i in range(rows.shape[0])]))
        return found if base is None else found + np.asarray(base, found.dtype)

    def base_layers(self, X: Any) -> Array:
        """Return the base layers of samples, which their codes do not contain."""
        check_is_fitted(self)
        samples = self._samples(X, reset=False)
        size = self.components_.shape[-(samples[0].ndim - (self.channel_axis is not None)) :]
        return self._flattened(np.stack([base_layer(one, self.base, size, channel_axis=self.channel_axis) for one in samples]))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the R^2 score of the reconstruction: 1 is exact, 0 no better than the mean. `y` is ignored."""
        check_is_fitted(self)
        samples = self._samples(X, reset=False)
        pairs = [(sample, codes.reconstruct()) for sample, codes in zip(samples, self._encode(samples))]
        known = np.concatenate([sample[~np.isnan(sample)] for sample, _ in pairs])
        error = sum(float(np.nansum((sample.astype(float) - found) ** 2)) for sample, found in pairs)
        variation = float(((known.astype(float) - known.mean(dtype=float)) ** 2).sum())
        return 1.0 - error / variation if variation > 0 else float(error == 0)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the column names of `transform`, such as ``atom3_-2_5``: the atom and the first sample it covers.

        An array of names; above 100,000 columns a sequence that makes each name when it is read.
        """
        check_is_fitted(self)
        names = FeatureNames(self._no_codes(self._sample_shape))
        return names if len(names) > _MOST_NAMES_AT_ONCE else np.array(list(names), dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.three_d_array = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _named(self, name: str) -> Any:
        """Return the value of a parameter that has an alias."""
        alias = getattr(self, _ALIASES[name])
        if alias is None:
            return getattr(self, name)
        default = inspect.signature(type(self)).parameters[name].default
        if getattr(self, name) != default:
            warn(f"{name} and its alias {_ALIASES[name]} are both given; {_ALIASES[name]} is used")
        return alias

    def _model_options(self, samples: list[Array]) -> dict[str, Any]:
        """Return the options shared by `learn` and `Stream`."""
        if self.base.startswith("joint-"):
            raise ValueError(
                f"base is {self.base!r}, but rows of codes cannot hold layers that are estimated with them; "
                'use base="smooth", or lobcod.learn and lobcod.encode'
            )
        rank = samples[0].ndim - (self.channel_axis is not None)
        seed, atoms = self._named("random_state"), self._named("n_components")
        if not isinstance(seed, (int, np.integer)):
            seed = check_random_state(seed).randint(2**31 - 1)
        return {
            "atoms": None if isinstance(self.size, list) and atoms == DEFAULTS["learn"]["atoms"] else atoms,
            "size": usual_size(rank) if self.size is None else self.size,
            "seed": seed,
            "base": self.base,
            "border": self.border,
            "channel_axis": self.channel_axis,
            "threads": self._threads(),
            "engine": self.engine,
            "nonnegative": self.nonnegative,
            "zero_mean": self.zero_mean,
            "window": self.window,
            "rank": self.rank,
        }

    def _threads(self) -> int:
        threads = self._named("n_jobs")
        return 0 if threads is None else int(threads)

    def _encode(self, samples: list[Array]) -> list[Codes]:
        codes: list[Codes] = encode(
            samples,
            self.components_,
            self.penalty_,
            border=self.border,
            nonnegative=self.nonnegative,
            tolerance=self.tolerance,
            base=self.base,
            channel_axis=self.channel_axis,
            threads=self._threads(),
            engine=self.engine,
        )
        return codes

    def _samples(self, X: Any, *, reset: bool) -> list[Array]:
        """Return the samples as a list; ``ValueError`` unless they are real numbers, finite or NaN."""
        X = [_filled(sample) for sample in X] if isinstance(X, (list, tuple)) else _filled(X)
        if isinstance(X, list) and len({sample.shape for sample in X}) > 1:
            samples = X
        else:
            rules = {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan"}
            if isinstance(X, list):
                X = np.asarray(X)
            if np.ndim(X) > 2:
                X = check_array(X, allow_nd=True, **rules)
            else:
                X = validate_data(self, X, reset=reset, ensure_min_features=2 if reset else 1, **rules)
            samples = list(self._unflattened(X))
        if reset:
            self._sample_shape = np.shape(samples[0])
            if self.size is None and isinstance(self.init, str) and self.channel_axis is None:
                warn_of_colour(self._sample_shape, NOT_GIVEN, "a sample")
        return samples

    def _unflattened(self, X: Array) -> Array:
        """Reshape flattened rows to samples."""
        if self.sample_shape is None or X.ndim != 2:
            return X
        shape = tuple(self.sample_shape)
        if int(np.prod(shape)) != X.shape[1]:
            raise ValueError(f"sample_shape is {shape}, but a row of X has {X.shape[1]} values")
        return X.reshape(-1, *shape)

    def _flattened(self, samples: Array) -> Array:
        """Flatten samples to rows, if they were given that way."""
        return samples if self.sample_shape is None else samples.reshape(len(samples), -1)

    def _no_codes(self, sample: tuple[int, ...]) -> Codes:
        """Return the codes of an all-zero sample of this shape."""
        axis = None if self.channel_axis is None else self.channel_axis % len(sample)
        shape = tuple(n for i, n in enumerate(sample) if i != axis)
        return Codes(
            position=np.zeros((0, len(shape)), np.int32),
            atom=np.zeros(0, np.int32),
            channel=np.zeros(0, np.int32),
            value=np.zeros(0, self.components_.dtype),
            dictionary=self.components_,
            shape=shape,
            channels=1 if axis is None else sample[axis],
            channel_axis=axis,
            border=self.border,
            penalty=self.penalty_,
            base=None,
            dtype=self.components_.dtype,
            _report=None,
        )

    def _texture(self, row: Any, empty: Codes) -> Array:
        """Reconstruct a sample from a row of codes, without its base layer."""
        row = row.tocoo()
        plane, atom, *at = np.unravel_index(row.col, _grid(empty))
        codes = {
            "position": (np.stack(at, axis=1) + _first_position(empty)).astype(np.int32),
            "atom": atom.astype(np.int32),
            "channel": plane.astype(np.int32),
            "value": row.data.astype(self.components_.dtype),
        }
        return Codes(**{**empty.__dict__, **codes}).texture()


class FeatureNames(Sequence[str]):
    """Column names of `transform`, generated on access."""

    def __init__(self, empty: Codes) -> None:
        self._grid, self._first, self._planes = _grid(empty), _first_position(empty), empty._planes

    def __len__(self) -> int:
        return int(np.prod(self._grid, dtype=np.int64))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"there is no column {index}; there are {len(self)}")
        plane, atom, *at = (int(i) for i in np.unravel_index(index % len(self), self._grid))
        channel = f"channel{plane}_" if self._planes > 1 else ""
        return "_".join([f"{channel}atom{atom}", *(str(int(i)) for i in np.array(at) + self._first)])


def _filled(sample: Any) -> Array:
    """Replace masked values by NaN."""
    if np.ma.is_masked(sample):
        return np.asarray(np.ma.filled(sample.astype(np.result_type(sample.dtype, np.float32)), np.nan))
    return sample if hasattr(sample, "dtype") else np.asarray(sample)


def _grid(codes: Codes) -> tuple[int, ...]:
    """Return the number of separately coded channels, of atoms, and of positions along each axis."""
    return (codes._planes, len(codes.dictionary), *codes.position_shape)


def _first_position(codes: Codes) -> Array:
    """Return the first position along each axis."""
    return np.array(codes.first_position)


def _column_count(codes: Codes) -> int:
    """Return the number of possible codes of such a sample."""
    return int(np.prod(_grid(codes), dtype=np.int64))


def _columns(codes: Codes) -> Array:
    """Return the column of each code in a row, ordered by separately coded channel, atom and position."""
    at = codes.position.astype(np.int64) - _first_position(codes)
    return np.ravel_multi_index((codes.channel, codes.atom, *at.T), _grid(codes))
