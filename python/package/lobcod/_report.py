"""Solver reports; the field names are those of ``--json`` on the command line."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, TypeVar

import numpy as np

from ._arrays import Array
from ._described import described
from ._html import objective_curve, panel

R = TypeVar("R", bound="_Base")

_SUMMARY = {
    "status": "{}",
    "objective": "objective {:.6g}",
    "relative_gap": "relative gap {:.1e}",
    "nonzeros": "{} non-zeros",
    "passes": "{} passes",
    "seconds": "{:.3g} s",
}
"""Fields shown in the short form of a report, if present."""


@dataclass(frozen=True, eq=False)
class _Base:
    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values (arrays stay arrays)."""
        return asdict(self)

    @classmethod
    def _from(cls: type[R], values: dict[str, Any]) -> R:
        names = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in names})

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(np.array_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        parts = [text.format(getattr(self, name)) for name, text in _SUMMARY.items() if hasattr(self, name)]
        return f"<{type(self).__name__}: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        return panel(repr(self), objective_curve(getattr(self, "history", [])))


@described
@dataclass(frozen=True, eq=False, repr=False)
class HistoryPoint(_Base):
    """A point of the objective-time curve."""

    seconds: Annotated[float, "Seconds since the solver began."]
    objective: Annotated[float, "Exact objective at the requested penalty."]
    nonzeros: Annotated[int, "Non-zero codes."]
    relative_gap: Annotated[float | None, "Relative duality gap, if it was computed."]

    def __repr__(self) -> str:
        gap = "" if self.relative_gap is None else f", relative gap {self.relative_gap:.1e}"
        return f"<HistoryPoint: {self.seconds:.3g} s, objective {self.objective:.6g}, {self.nonzeros} non-zeros{gap}>"


@described
@dataclass(frozen=True, eq=False, repr=False)
class LearnPoint(_Base):
    """A pass of learning."""

    seconds: Annotated[float, "Seconds since the learner began."]
    pass_number: Annotated[int, "Number of the pass, from 1."]
    objective: Annotated[float, "Objective, recomputed from dictionary and codes."]
    data_term: Annotated[float, "Data term of the objective."]
    nonzeros: Annotated[int, "Non-zero codes."]
    replaced_atoms: Annotated[int, "Unused atoms replaced in this pass."]
    merged_atoms: Annotated[int, "Near-duplicate atoms merged in this pass."]


@dataclass(frozen=True, eq=False, repr=False)
class _Run(_Base):
    status: Annotated[
        str, "How the run ended: ``converged``, ``stalled``, ``completed``, ``max_sweeps``, ``time_limit`` or ``interrupted``."
    ]
    penalty: Annotated[float, "The penalty, in units of the image; the weighted mean if several results are averaged."]
    nonzeros: Annotated[int, "Non-zero codes."]
    discovery_sweeps: Annotated[int, "Sweeps over all positions."]
    support_sweeps: Annotated[int, "Sweeps over the non-zero codes."]
    seconds: Annotated[float, "Wall time of the solver, including the certificate."]
    working_memory_bytes: Annotated[int, "Memory of the solver's own arrays, in bytes."]
    threads: Annotated[int, "Threads used."]
    engine: Annotated[str, "Name of the engine."]
    precision: Annotated[str, "``f32`` or ``f64``."]


@dataclass(frozen=True, eq=False, repr=False)
class _Certificate(_Run):
    objective: Annotated[float, "Data term plus penalty term."]
    data_term: Annotated[float, "``1/2 || A (Y - B - sum P_i^T D a_i) ||^2``."]
    gap: Annotated[float, "Objective minus dual objective: an upper bound on the distance to the optimum."]
    relative_gap: Annotated[float, "``gap / objective``."]
    pixels: Annotated[int, "Number of samples, without channels."]
    penalty_max: Annotated[float, "The smallest penalty for which all codes are zero."]


@described
@dataclass(frozen=True, eq=False, repr=False)
class Report(_Certificate):
    """The report of a pursuit."""

    history: Annotated[list[HistoryPoint], "Objective against time."]
    debiased_data_term: Annotated[float | None, "Data term of debiased codes; the other fields describe the codes before."]
    constrained: Annotated[
        dict[str, float] | None,
        "Constrained form: ``max_error``, ``error``, ``l1_norm``, ``gap`` of the norm, and the number of ``solves``.",
    ]

    reweighted: Annotated[
        dict[str, float] | None,
        "Cauchy loss: the number of weighted problems (``rounds``) and the ``objective`` with the loss itself; "
        "the other fields describe the last weighted problem.",
    ]

    @classmethod
    def _from(cls: type[R], values: dict[str, Any]) -> R:
        history = [HistoryPoint(**point) for point in values["history"]]
        return super()._from({**values, "history": history})


@described
@dataclass(frozen=True, eq=False, repr=False)
class SeparateReport(Report):
    """The report of a separation; objective and gap refer to both layers jointly."""

    alternations: Annotated[int, "Number of alternations between pursuit and smooth layer."]


@described
@dataclass(frozen=True, eq=False, repr=False)
class FuseReport(Report):
    """The report of a fusion, summed over all frames."""

    decision: Annotated[Array, "Index of the frame each pixel was taken from."]
    depth: Annotated[Array, "Smoothed decision: the depth of the scene, in frames."]
    crop: Annotated[tuple[int, int, int, int], "Top, left, height and width of the fused region in the frames."]
    motions: Annotated[
        list[tuple[float, float, float, float]],
        "Shift down and right, scale and angle of each frame relative to the first that were undone.",
    ]
    mode: Annotated[str, "How the frames were fused: ``focus`` or ``exposure``."]
    similarity: Annotated[float, "Smallest rank correlation of the lightness of consecutive frames."]
    brightness_difference: Annotated[float, "Difference in mean lightness of the frames, in 0..100."]
    largest_motion: Annotated[float, "Largest measured motion of a corner of a frame relative to the first frame, in pixels."]


@described
@dataclass(frozen=True, eq=False, repr=False)
class LearnReport(_Certificate):
    """The report of learning; objective and gap are those of the final pursuit."""

    pursuit_status: Annotated[str, "How the final pursuit ended."]
    passes: Annotated[int, "Number of passes over the images."]
    replaced_atoms: Annotated[int, "Total number of unused atoms replaced."]
    merged_atoms: Annotated[int, "Total number of near-duplicate atoms merged."]
    history: Annotated[list[LearnPoint], "Objective against time."]

    @classmethod
    def _from(cls: type[R], values: dict[str, Any]) -> R:
        history = [LearnPoint(**point) for point in values["history"]]
        return super()._from({**values, "history": history})


@described
@dataclass(frozen=True, eq=False, repr=False)
class InpaintReport(_Run):
    """The report of inpainting."""

    penalty_path: Annotated[
        list[dict[str, float | None]], "Penalties tried for the result with the largest weight, each with its held-out error."
    ]
    answers: Annotated[list[dict[str, Any]], "The results that were averaged."]
    held_out_samples: Annotated[int, "Number of samples held out to select penalties and weight results."]
    fit: Annotated[Array, "The fit at all samples, including known ones, before rounding and clipping."]
    dictionary: Annotated[
        Array | None, "Atoms learnt from the damaged image, of the result with the largest weight; ``None`` if none were learnt."
    ]


@described
@dataclass(frozen=True, eq=False, repr=False)
class DenoiseReport(_Base):
    """The report of denoising."""

    status: Annotated[str, "How the run ended."]
    noise: Annotated[str, "Noise model, given or detected; ``none`` if no noise was detected."]
    noise_level: Annotated[
        float, "Standard deviation of Gaussian noise or gain of counts, given or estimated; fraction of samples hit by impulses."
    ]
    seconds: Annotated[float, "Wall time."]
    dictionary: Annotated[Array | None, "The atoms, adapted to the image; None if the method uses no atoms."]
    pursuit: Annotated[Report | None, "The report of the pursuit of the whole image, if any."]
