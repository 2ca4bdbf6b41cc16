"""Dictionary learning and coding in the manner of scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._arrays import Array
from ._codes import Codes
from ._encode import encode
from ._learn import learn
from ._options import usual_size
from ._stream import Stream

try:
    from scipy.sparse import csr_matrix, vstack
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils import Tags, check_array
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError("ConvolutionalDictionaryLearning needs scikit-learn 1.6 or later; pip install scikit-learn") from error


class ConvolutionalDictionaryLearning(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Convolutional dictionary learning: atoms that, added up at any place, make the samples.

    A sample is a signal ``(t,)``, an image ``(h, w)`` or a volume ``(d, h, w)``, with an axis of channels where `channel_axis`
    names it; ``X`` is an array of samples of one size, or a list of samples of any sizes. NaN marks what is missing.

    Parameters
    ----------
    atoms : int
        Number of atoms.
    size : sequence of int, optional
        Box of an atom. Default: 16, (8, 8) or (5, 5, 5) by the axes of a sample.
    penalty, relative_penalty, method, seed, init, passes, base, border, tolerance, channel_axis, stream_memory, threads, engine
        As for :func:`lobcod.learn` and :class:`lobcod.Stream`; `channel_axis` counts the axes of a sample.

    Attributes
    ----------
    components_ : array
        The atoms, ``(m, h, w)`` or ``(m, c, h, w)``.
    penalty_ : float
        The penalty in units of the samples.
    report_ : LearnReport
        What the learner says (after `fit`).
    stream_ : Stream
        The stream (after `partial_fit`).
    n_iter_ : int
        Passes over all samples, or samples seen one by one.

    Examples
    --------
    >>> import lobcod
    >>> picture = lobcod.still_life(64).mean(axis=-1)
    >>> X = picture.reshape(2, 32, 64)
    >>> model = lobcod.ConvolutionalDictionaryLearning(atoms=8, size=(5, 5), passes=3).fit(X)
    >>> model.transform(X).shape
    (2, 19584)
    >>> model.inverse_transform(model.transform(X)).shape
    (2, 32, 64)
    """

    def __init__(
        self,
        atoms: int = 81,
        size: Sequence[int] | int | None = None,
        penalty: float | None = None,
        *,
        relative_penalty: float | None = None,
        method: str = "atomwise",
        seed: int = 0,
        init: Any = "random",
        passes: int = 40,
        base: str = "local-mean",
        border: str = "free",
        tolerance: float = 1e-3,
        channel_axis: int | None = None,
        stream_memory: int = 32,
        threads: int = 0,
        engine: str = "cpu",
    ) -> None:
        self.atoms = atoms
        self.size = size
        self.penalty = penalty
        self.relative_penalty = relative_penalty
        self.method = method
        self.seed = seed
        self.init = init
        self.passes = passes
        self.base = base
        self.border = border
        self.tolerance = tolerance
        self.channel_axis = channel_axis
        self.stream_memory = stream_memory
        self.threads = threads
        self.engine = engine

    def fit(self, X: Any, y: Any = None) -> ConvolutionalDictionaryLearning:
        """Learns the atoms from all samples at once. `y` is not used."""
        samples = self._samples(X, reset=True)
        self.components_, self.report_ = learn(
            samples,
            atoms=self.atoms,
            size=self._size(samples),
            penalty=self.penalty,
            method=self.method,
            seed=self.seed,
            relative_penalty=self.relative_penalty,
            init=self.init,
            passes=self.passes,
            base=self.base,
            border=self.border,
            channel_axis=self.channel_axis,
            tolerance=self.tolerance,
            threads=self.threads,
            engine=self.engine,
        )
        self.penalty_, self.n_iter_ = self.report_.penalty, self.report_.passes
        self.__dict__.pop("stream_", None)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> ConvolutionalDictionaryLearning:
        """Learns from more samples, one after the other; goes on from the atoms of `fit`, if it was called. `y` is not used."""
        samples = self._samples(X, reset=not hasattr(self, "components_"))
        if not hasattr(self, "stream_"):
            fitted = hasattr(self, "components_")
            self.stream_ = Stream(
                atoms=self.atoms,
                size=self._size(samples),
                penalty=self.penalty_ if fitted else self.penalty,
                seed=self.seed,
                relative_penalty=None if fitted else self.relative_penalty,
                init=self.components_ if fitted else self.init,
                stream_memory=self.stream_memory,
                base=self.base,
                border=self.border,
                channel_axis=self.channel_axis,
                threads=self.threads,
                engine=self.engine,
            )
        for sample in samples:
            self.stream_.partial_fit(sample)
        self.components_, self.n_iter_ = self.stream_.dictionary, len(self.stream_.history)
        self.penalty_ = float(self.stream_.penalty or 0.0)
        return self

    def encode(self, sample: Any) -> Codes:
        """Codes of one sample, with their certificate."""
        check_is_fitted(self)
        return encode(
            sample,
            self.components_,
            self.penalty_,
            border=self.border,
            tolerance=self.tolerance,
            base=self.base,
            channel_axis=self.channel_axis,
            threads=self.threads,
            engine=self.engine,
        )

    def transform(self, X: Any) -> Any:
        """Codes of samples of one size as a sparse matrix (CSR), a row for each sample.

        The columns are the flattened maps of :meth:`lobcod.Codes.maps`: atom after atom, each with all its positions.
        """
        check_is_fitted(self)
        samples = self._samples(X, reset=False)
        if any(np.shape(sample) != np.shape(samples[0]) for sample in samples):
            raise ValueError("the samples differ in size, so their codes cannot be rows of one matrix; use encode on each")
        return vstack([_row(self.encode(sample)) for sample in samples], format="csr")

    def inverse_transform(self, X: Any, shape: Sequence[int] | None = None) -> Array:
        """Samples of this shape that rows of codes stand for, without their base layers. Default: the shape of those fitted."""
        check_is_fitted(self)
        rows = csr_matrix(X)
        shape = self._sample_shape if shape is None else tuple(shape)
        empty = self._no_codes(shape)
        if rows.shape[1] != _columns(empty):
            raise ValueError(
                f"a row holds {rows.shape[1]} codes, but a sample of {shape} has {_columns(empty)}; give their shape"
            )
        return np.stack([self._of_row(rows[i], empty) for i in range(rows.shape[0])])

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns of `transform`."""
        check_is_fitted(self)
        return np.array([f"code{i}" for i in range(_columns(self._no_codes(self._sample_shape)))], dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.three_d_array = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _samples(self, X: Any, *, reset: bool) -> list[Array]:
        """The samples one by one; ``ValueError`` unless they are real numbers, finite or NaN."""
        ragged = isinstance(X, (list, tuple)) and len({np.shape(sample) for sample in X}) > 1
        if ragged:
            samples = [np.asarray(sample) for sample in X]
        else:
            rules = {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan"}
            if np.asarray(X).ndim > 2:
                X = check_array(X, allow_nd=True, **rules)
            else:
                X = validate_data(self, X, reset=reset, ensure_min_features=2 if reset else 1, **rules)
            samples = list(X)
        if reset:
            self._sample_shape = np.shape(samples[0])
        return samples

    def _size(self, samples: list[Array]) -> Sequence[int] | int:
        rank = samples[0].ndim - (self.channel_axis is not None)
        return usual_size(rank) if self.size is None else self.size

    def _no_codes(self, sample: tuple[int, ...]) -> Codes:
        """The codes of a sample of this shape that is zero everywhere."""
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
            told=None,
        )

    def _of_row(self, row: Any, empty: Codes) -> Array:
        row, grid = row.tocoo(), empty.position_shape
        plane, atom, *at = np.unravel_index(row.col, (empty._planes, len(self.components_), *grid))
        shift = 0 if self.border == "periodic" else np.array(self.components_.shape[-len(grid) :]) - 1
        codes = {
            "position": (np.stack(at, axis=1) - shift).astype(np.int32),
            "atom": atom.astype(np.int32),
            "channel": plane.astype(np.int32),
            "value": row.data.astype(self.components_.dtype),
        }
        return Codes(**{**empty.__dict__, **codes}).texture()


def _columns(codes: Codes) -> int:
    """Codes that such a sample could have."""
    return codes._planes * len(codes.dictionary) * int(np.prod(codes.position_shape))


def _row(codes: Codes) -> Any:
    """The codes as one row: channel after channel where each is coded by itself, atom after atom, position after position."""
    matrix = codes.to_scipy().tocoo()
    positions = int(np.prod(codes.position_shape))
    plane, position = np.divmod(matrix.row.astype(np.int64), positions)
    column = (plane * len(codes.dictionary) + matrix.col) * positions + position
    return csr_matrix((matrix.data, (np.zeros_like(column), column)), shape=(1, _columns(codes)))
