"""Waveforms of EEG and MEG, found by an object with the interface of :class:`mne.preprocessing.ICA`.

Examples
--------
>>> import mne, numpy as np
>>> from lobcod.mne import CSC
>>> rng = np.random.default_rng(0)
>>> burst = np.outer(rng.standard_normal(8), np.hanning(25) * np.sin(np.arange(25)))
>>> data = 1e-7 * rng.standard_normal((8, 1000))
>>> for start in (100, 380, 700):
...     data[:, start : start + 25] += 1e-5 * burst
>>> raw = mne.io.RawArray(data, mne.create_info(8, 100.0, "eeg"), verbose="error").filter(1, None, verbose="error")
>>> csc = CSC(n_components=1, duration=0.25).fit(raw)
>>> csc.annotate(raw).onset.round(1).tolist()
[1.0, 3.8, 7.0]
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ._arrays import Array
from ._codes import Codes
from ._encode import encode
from ._learn import factors, learn
from ._report import LearnReport
from ._warnings import warn

try:
    import mne
except ImportError as error:
    raise ImportError("lobcod.mne needs MNE-Python; pip install lobcod[mne]") from error

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Recording: TypeAlias = Any
"""A `Raw` or `Epochs` of MNE, which has no types."""

_COLUMNS = 5
_DEBIASING = 0.01
"""Penalty of the strengths of activations, in units of that for finding them."""
_SLOWEST = 0.5
"""High-pass frequency in Hz below which drifts hide the waveforms."""


class CSC:
    """Convolutional sparse coding of a recording: each component is a topography times a waveform that recurs at a few times.

    The recording is a sum of components, each added at the times and with the strengths of its activations. The l1 norm of the
    activations is penalised (see :func:`lobcod.learn` with ``rank=1``) to find their times, and almost not for their strengths.
    Waveforms that the ends of the recording or of an epoch cut are not modelled. Filter out slow drifts first.

    Parameters
    ----------
    n_components : int
        Number of components.
    duration : float
        Length of the waveforms in seconds.
    relative_penalty : float
        Penalty of the activations as a fraction of the smallest one for which all are zero; smaller finds weaker events.
    nonnegative : bool
        Require non-negative activations, so that the polarity of a component is that of its events.
    max_iter : int
        Number of passes over the recording, at least `n_components`: components are added one by one.
    random_state : int
        Seed of the random number generator.
    n_jobs : int, optional
        Number of threads; -1 uses all cores. Default: depends on the size of the recording.
    fit_params : dict, optional
        Further options of :func:`lobcod.learn`, such as ``{"window": "tukey:0.2"}``.

    Attributes
    ----------
    exclude : list of int
        Components that :meth:`apply` subtracts.
    ch_names : list of str
        The channels of the components.
    info : mne.Info
        Their measurement info.
    n_components_ : int
        Number of components, in the order of the variance they explain.
    penalty_ : float
        The penalty, in units of the scaled recording.
    report_ : LearnReport or None
        The report of the learner; ``None`` if the object was read from a file.
    """

    def __init__(
        self,
        n_components: int = 10,
        duration: float = 0.5,
        *,
        relative_penalty: float = 0.1,
        nonnegative: bool = True,
        max_iter: int = 40,
        random_state: int = 0,
        n_jobs: int | None = None,
        fit_params: dict[str, Any] | None = None,
    ) -> None:
        self.n_components = n_components
        self.duration = duration
        self.relative_penalty = relative_penalty
        self.nonnegative = nonnegative
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.fit_params = dict(fit_params or {})
        self.exclude: list[int] = []
        self.report_: LearnReport | None = None

    def __repr__(self) -> str:
        fitted = f"fitted to {len(self.ch_names)} channels" if hasattr(self, "info") else "not fitted"
        return f"<CSC: {self.n_components} components of {self.duration:g} s, {fitted}>"

    def fit(
        self,
        inst: Recording,
        picks: str | Sequence[Any] | None = None,
        start: int | None = None,
        stop: int | None = None,
        reject_by_annotation: bool = True,
    ) -> CSC:
        """Learn topographies and waveforms from a `Raw` or `Epochs`.

        `picks` are the channels, by default all good data channels. `start` and `stop` select samples of a `Raw`, and segments
        whose annotation starts with ``bad`` are missing samples unless `reject_by_annotation` is false.
        """
        channels = mne.EvokedArray(np.zeros((len(inst.ch_names), 1)), inst.info, verbose="error")
        info = channels.pick("data" if picks is None else picks, exclude="bads", verbose="error").info
        if len(info["ch_names"]) < 2:
            raise ValueError("a topography needs two or more channels, but only one is picked; pick more")
        if info["highpass"] < _SLOWEST:
            warn("slow drifts were not filtered out, which hide the waveforms; filter the recording first: inst.filter(1, None)")
        if _is_raw(inst):
            missing = "NaN" if reject_by_annotation else None
            parts = inst.get_data(info["ch_names"], start or 0, stop, reject_by_annotation=missing, verbose="error")[None]
        else:
            parts = inst.get_data(info["ch_names"], verbose="error")
        types = np.array(info.get_channel_types())
        scale = np.ones(len(types))
        for kind in set(types):
            scale[types == kind] = np.sqrt(np.nanmean(parts[:, types == kind] ** 2))
        if not np.all(scale > 0):
            raise ValueError("a type of channel has no signal; pick others")
        length = round(self.duration * info["sfreq"])
        options: dict[str, Any] = {"rank": 1, "sort": "variance", "base": "none", "border": "inside", "precision": "f32"}
        options |= {
            "init": "patches",
            "grow": True,
            "relative_penalty": self.relative_penalty,
            "nonnegative": self.nonnegative,
            "passes": self.max_iter,
        }
        options |= {"seed": self.random_state, "threads": self.n_jobs or 0, "channel_axis": 0, **self.fit_params}
        learnt = learn(list(parts / scale[:, None]), self.n_components, length, **options)
        self._set(info, scale, learnt.dictionary, learnt.report.penalty)
        self.report_ = learnt.report
        return self

    def _set(self, info: Any, scale: Array, dictionary: Array, penalty: float) -> None:
        self.info, self.ch_names = info, list(info["ch_names"])
        self.n_components_, self.penalty_ = len(dictionary), penalty
        self._scale, self._dictionary = scale, dictionary

    def get_components(self) -> Array:
        """Return the topographies, ``(n_channels, n_components)``, in the units of the recording."""
        topographies = factors(self._fitted())[0]
        return np.asarray(self._scale[:, None] * topographies.T)

    def get_waveforms(self) -> Array:
        """Return the waveforms, ``(n_components, n_times)``, of unit norm."""
        return factors(self._fitted())[1]

    def get_sources(self, inst: Recording) -> Recording:
        """Return the activations as a recording with a channel per component, non-zero where a waveform starts."""
        found = self._encode(inst)
        sources = np.zeros((len(found), self.n_components_, len(inst.times)))
        for part, codes in zip(sources, found):
            part[codes.atom, codes.position[:, 0]] = codes.value
        info = mne.create_info([_name(k) for k in range(self.n_components_)], inst.info["sfreq"], "misc", verbose="error")
        if not _is_raw(inst):
            return mne.EpochsArray(sources, info, inst.events, inst.tmin, inst.event_id, verbose="error")
        raw = mne.io.RawArray(sources[0], info, inst.first_samp, verbose="error")
        return raw.set_meas_date(inst.info["meas_date"]).set_annotations(inst.annotations, verbose="error")

    def annotate(self, raw: Recording, picks: Sequence[int] | None = None, threshold: float = 0.2) -> Any:
        """Return annotations of the events of a `Raw`, described as ``CSC000`` and so on, to be set or added to its own.

        An event is an activation of at least `threshold` times the largest of its component, larger than all others of the
        component within half a waveform.
        """
        if not _is_raw(raw):
            raise TypeError("annotations belong to a Raw; use get_sources for the activations of Epochs")
        rate = raw.info["sfreq"]
        length = self._fitted().shape[-1]
        sources = np.abs(self.get_sources(raw).get_data())
        found = []
        for k in range(self.n_components_) if picks is None else picks:
            left = sources[k].copy()
            least = max(threshold * left.max(), np.finfo(float).tiny)
            while left.max() >= least:
                at = int(left.argmax())
                found.append((at / rate, _name(k)))
                left[max(0, at - length // 2) : at + length // 2 + 1] = 0
        found.sort()
        date = raw.info["meas_date"]
        onset = np.array([time for time, _ in found]) + (0 if date is None else raw.first_time)
        return mne.Annotations(onset, length / rate, [name for _, name in found], orig_time=date)

    def apply(self, inst: Recording, exclude: Sequence[int] | None = None) -> Recording:
        """Subtract components from a recording in place, by default those in :attr:`exclude`, and return it."""
        exclude = self.exclude if exclude is None else list(exclude)
        wrong = [k for k in exclude if not 0 <= k < self.n_components_]
        if wrong:
            raise ValueError(f"there is no component {wrong[0]}; the components are 0 to {self.n_components_ - 1}")
        found = self._encode(inst)
        names, order = self._channels(inst)
        atoms = self._scale[order, None] * self._dictionary[:, order]

        def without(data: Array) -> Array:
            cleaned = data.copy()
            for part, codes in zip(cleaned.reshape(-1, *data.shape[-2:]), found):
                for at, atom, value in zip(codes.position[:, 0], codes.atom, codes.value):
                    if atom in exclude:
                        part[:, at : at + atoms.shape[-1]] -= value * atoms[atom]
            return cleaned

        if not inst.preload:
            inst.load_data(verbose="error")
        return inst.apply_function(without, names, channel_wise=False, verbose="error")

    def _channels(self, inst: Recording) -> tuple[list[str], list[int]]:
        """Return the channels of the components in the order of a recording, and their numbers."""
        names = [name for name in inst.ch_names if name in self.ch_names]
        if len(names) < len(self.ch_names):
            lost = next(name for name in self.ch_names if name not in names)
            raise ValueError(f"the recording has no channel {lost}, which the components have; fit to its channels")
        if not np.isclose(inst.info["sfreq"], self.info["sfreq"]):
            rates = f"{inst.info['sfreq']:g} Hz, but the components {self.info['sfreq']:g} Hz"
            raise ValueError(f"the recording is sampled at {rates}; resample it")
        return names, [self.ch_names.index(name) for name in names]

    def _encode(self, inst: Recording) -> list[Codes]:
        """Return the codes of a `Raw` or of each epoch."""
        self._fitted()
        raw = _is_raw(inst)
        names, order = self._channels(inst)
        parts = inst.get_data(names)
        parts = (parts[None] if raw else parts) / self._scale[order, None]
        options: dict[str, Any] = {"base": "none", "border": "inside", "precision": "f32", "channel_axis": 0}
        options |= {"nonnegative": self.nonnegative, "threads": self.n_jobs or 0}
        atoms, parts = self._dictionary[:, order], list(parts)
        first: list[Codes] = encode(parts, atoms, self.penalty_, **options)
        # The penalty makes activations too small: almost none where they are, and nothing elsewhere.
        weights = [np.where(codes.maps() == 0, np.inf, _DEBIASING) for codes in first]
        codes: list[Codes] = encode(parts, atoms, self.penalty_, start=first, weights=weights, **options)
        return codes

    def _fitted(self) -> Array:
        if not hasattr(self, "info"):
            raise RuntimeError("the components are not known yet; call fit first")
        return self._dictionary

    def plot_components(self, picks: Sequence[int] | None = None, ch_type: str | None = None, show: bool = True) -> Figure:
        """Draw the topographies, of one type of channels if there are several (by default the first)."""
        types = self.info.get_channel_types()
        chosen = [i for i, kind in enumerate(types) if kind == (ch_type or types[0])]
        info, maps = mne.pick_info(self.info, chosen), self.get_components()[chosen]

        def draw(k: int, ax: Any) -> None:
            mne.viz.plot_topomap(maps[:, k], info, axes=ax, show=False)

        return self._grid(picks, draw, show)

    def plot_waveforms(self, picks: Sequence[int] | None = None, show: bool = True) -> Figure:
        """Draw the waveforms as functions of time."""
        waves, rate = self.get_waveforms(), self.info["sfreq"]

        def draw(k: int, ax: Any) -> None:
            ax.plot(np.arange(waves.shape[1]) / rate, waves[k])
            ax.axhline(0, color="0.8", zorder=0)
            ax.set_yticks([])
            ax.set_xlabel("time (s)")

        return self._grid(picks, draw, show)

    def _grid(self, picks: Sequence[int] | None, draw: Any, show: bool) -> Figure:
        import matplotlib.pyplot as plt

        picks = range(self.n_components_) if picks is None else picks
        columns = min(_COLUMNS, len(picks))
        rows = -(-len(picks) // columns)
        figure, axes = plt.subplots(rows, columns, figsize=(2 * columns, 1.9 * rows), squeeze=False, layout="constrained")
        for ax in axes.flat[len(picks) :]:
            ax.set_axis_off()
        for ax, k in zip(axes.flat, picks):
            draw(k, ax)
            ax.set_title(_name(k))
        if show:
            plt.show()
        return figure

    def save(self, fname: str | os.PathLike[str], overwrite: bool = False) -> CSC:
        """Save the components to a file ``...-epo.fif``, which MNE can read as well: an epoch per component."""
        names = (
            "n_components",
            "duration",
            "relative_penalty",
            "nonnegative",
            "max_iter",
            "random_state",
            "n_jobs",
            "fit_params",
        )
        info = self.info.copy()
        dictionary = self._scale[:, None] * self._fitted().astype(float)
        kept = {"penalty": self.penalty_, "scale": list(self._scale), "exclude": list(map(int, self.exclude))}
        info["description"] = json.dumps({"lobcod": {name: getattr(self, name) for name in names} | kept})
        mne.EpochsArray(dictionary, info, verbose="error").save(fname, fmt="double", overwrite=overwrite, verbose="error")
        return self


def read_csc(fname: str | os.PathLike[str]) -> CSC:
    """Read components saved by :meth:`CSC.save`."""
    epochs = mne.read_epochs(fname, proj=False, verbose="error")
    try:
        kept = json.loads(epochs.info["description"])["lobcod"]
    except (TypeError, ValueError, KeyError):
        raise ValueError(f"{os.fspath(fname)} holds epochs, but no components; pass a file written by CSC.save") from None
    penalty, scale, exclude = kept.pop("penalty"), np.array(kept.pop("scale")), kept.pop("exclude")
    csc = CSC(**kept)
    with epochs.info._unlock():
        epochs.info["description"] = None
    csc._set(epochs.info, scale, (epochs.get_data() / scale[:, None]).astype(np.float32), penalty)
    csc.exclude = exclude
    return csc


def _is_raw(inst: Any) -> bool:
    if isinstance(inst, (mne.io.BaseRaw, mne.BaseEpochs)):
        return isinstance(inst, mne.io.BaseRaw)
    raise TypeError(f"the recording is a {type(inst).__name__}, but must be a Raw or Epochs of MNE")


def _name(k: int) -> str:
    return f"CSC{k:03d}"
