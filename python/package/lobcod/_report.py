"""What solvers say of their work; the names are those of the command line's ``--json``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

from ._arrays import Array

R = TypeVar("R", bound="_Base")


@dataclass(frozen=True)
class _Base:
    def to_dict(self) -> dict[str, Any]:
        """The report as plain values (arrays stay arrays)."""
        return asdict(self)

    @classmethod
    def _from(cls: type[R], told: dict[str, Any]) -> R:
        names = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in told.items() if name in names})


@dataclass(frozen=True)
class HistoryPoint(_Base):
    """A point of the curve objective against time."""

    seconds: float
    """Seconds since the solver began."""
    objective: float
    """Objective at the asked penalty, from a residual synthesised anew from the codes."""
    nonzeros: int
    """Non-zero codes."""
    relative_gap: float | None
    """Relative duality gap, where it was measured."""


@dataclass(frozen=True)
class LearnPoint(_Base):
    """A pass of learning."""

    seconds: float
    pass_number: int
    objective: float
    """Objective, recomputed from dictionary and codes."""
    data_term: float
    nonzeros: int
    replaced_atoms: int
    """Atoms replaced in this pass because nothing used them."""
    merged_atoms: int
    """Near-duplicates that handed their codes to their twin in this pass."""


@dataclass(frozen=True)
class _Run(_Base):
    """What every report of a run has: how it ended, what it took, and on what."""

    status: str
    """``converged``, ``stalled``, ``max_sweeps``, ``time_limit`` or ``interrupted``."""
    penalty: float
    """The penalty used, in units of the signal; of several answers their mean, weighted."""
    nonzeros: int
    """Non-zero codes."""
    discovery_sweeps: int
    """Sweeps over all needles."""
    support_sweeps: int
    """Sweeps over the non-zero codes."""
    seconds: float
    """Wall time of the solver, certificate included."""
    working_memory_bytes: int
    """Memory of the solver's own arrays."""
    threads: int
    """Threads used."""
    engine: str
    """Name of the engine."""
    precision: str
    """``f32`` or ``f64``."""


@dataclass(frozen=True)
class Certificate(_Run):
    """Objective and certificate: no other answer can be lower by more than the gap."""

    objective: float
    """Data term plus penalty term."""
    data_term: float
    """``1/2 || A (Y - B - sum P_i^T D a_i) ||^2``."""
    gap: float
    """Objective minus dual objective."""
    relative_gap: float
    """``gap / objective``."""
    pixels: int
    """Samples, channels not counted."""
    penalty_max: float
    """The smallest penalty with an all-zero answer."""


@dataclass(frozen=True)
class Report(Certificate):
    """The report of a pursuit."""

    history: list[HistoryPoint]
    """Objective against time."""

    @classmethod
    def _from(cls: type[R], told: dict[str, Any]) -> R:
        history = [HistoryPoint(**point) for point in told["history"]]
        return super()._from({**told, "history": history})


@dataclass(frozen=True)
class SeparateReport(Report):
    """The report of a separation; objective and gap are those of both layers together."""

    alternations: int
    """Times pursuit and smooth layer took turns."""


@dataclass(frozen=True)
class FuseReport(Report):
    """The report of a fusion; sums over all frames."""

    decision: Array
    """Number of the frame every pixel was taken from."""
    depth: Array
    """The same, smooth: the depth of the scene, in frames."""
    crop: tuple[int, int, int, int]
    """Top, left, height and width of the part of the frames that the picture shows."""
    motions: list[tuple[float, float, float, float]]
    """Shift down and right, scale and angle of each frame against the first."""
    largest_motion: float
    """Farthest that a corner of a frame lies from where it is in the first, in pixels."""


@dataclass(frozen=True)
class LearnReport(Certificate):
    """The report of a learning; objective and gap are those of the pursuit that ends it."""

    pursuit_status: str
    """How the pursuit that ends the learning ended."""
    passes: int
    """Passes over the set."""
    replaced_atoms: int
    """Atoms replaced in all because nothing used them."""
    merged_atoms: int
    """Near-duplicates that handed their codes to their twin, in all."""
    history: list[LearnPoint]
    """Objective against time."""

    @classmethod
    def _from(cls: type[R], told: dict[str, Any]) -> R:
        history = [LearnPoint(**point) for point in told["history"]]
        return super()._from({**told, "history": history})


@dataclass(frozen=True)
class InpaintReport(_Run):
    """The report of an inpainting."""

    penalty_path: list[dict[str, float | None]]
    """Penalties tried by the answer with the largest share, each with the error of held-out samples."""
    answers: list[dict[str, Any]]
    """The answers that were averaged."""
    held_out_samples: int
    """Samples held out to judge penalties and answers."""
    fit: Array
    """The fit everywhere, known samples included, before rounding and clipping."""
    dictionary: Array | None
    """Atoms learnt on the damaged image with the largest share, if any were learnt."""


@dataclass(frozen=True)
class DenoiseReport(_Base):
    """The report of a denoising."""

    status: str
    noise: str
    """Kind of noise."""
    noise_level: float
    """Level of gaussian noise or gain of counts, given or estimated; share of samples taken for impulses."""
    seconds: float
    dictionary: Array
    """The atoms, as fitted to the picture."""
    pursuit: Report | None
    """The pursuit of the whole picture, where there was one."""
