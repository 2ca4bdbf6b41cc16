"""Models compared with SPORCO and alphacsc: the same problem, one function for the objective, one thread.

Coding (SPORCO): a synthetic image, cosine atoms, border `periodic`, single precision. `ConvBPDN` with non-negative
codes, `ConvElasticNet`, `ConvBPDNJoint` with and without an l1 term on three channels, and `ConvMinL1InL2Ball`, whose
score is the smallest l1 norm of codes within 0.1 % of the bound. SPORCO gets its image divided by 255, relaxation 1.8 and the
best of four `rho`.

Learning (alphacsc): simulated recordings of planted atoms in noise, non-negative codes, the border `zero` (alphacsc,
whose atoms are inside the signal, gets zeros at both ends, which is the same problem), the same penalty and the same
initial atoms. Recovery is the smallest correlation of a planted atom with a learnt one, over all shifts.

Every solver runs with more and more iterations, each run from the start, and is charged only the run whose answer is
the first within 0.1 % of the best score that any of them found. lobcod is charged the run of the first tolerance
that is sufficient. Processor seconds; the fastest of three short runs.

    python3 -m venv .venv-models && .venv-models/bin/pip install -r paper/requirements-models.txt maturin
    .venv-models/bin/maturin develop --release -m python/Cargo.toml
    .venv-models/bin/python paper/bench_models.py [--quick|--full]
"""

import contextlib
import io
import os
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import lobcod
import numpy as np

from lib.common import SYNTHETIC, Results, parse
from lib.synthetic import scene

WITHIN = 1e-3
PENALTY = 5.0
RHOS = (0.04, 0.2, 1.0, 5.0)


def score_of_codes(model, image, atoms, maps):
    """The objective of codes (channels, m, h, w) of an image (channels, h, w), border periodic."""
    size = image.shape[1:]
    spectrum = np.fft.rfft2(atoms, size) * np.fft.rfft2(maps)
    rest = image - np.fft.irfft2(spectrum.sum(axis=1), size)
    l1 = np.abs(maps).sum()
    if model["peer"] == "ConvMinL1InL2Ball":
        return l1 if np.linalg.norm(rest) <= model["max_error"] * (1 + WITHIN) else np.inf
    joint = model.get("joint", 0.0) * np.sqrt((maps**2).sum(axis=0)).sum()
    elastic = 0.5 * model.get("elastic", 0.0) * (maps**2).sum()
    return 0.5 * np.sum(rest**2) + model.get("penalty", 0.0) * l1 + joint + elastic


def code_with_lobcod(model, image, atoms, tolerance):
    """Codes to this tolerance."""
    options = {
        name: model[name] for name in ("penalty", "joint", "elastic", "nonnegative", "max_error") if name in model
    }
    several = len(image) > 1
    started = time.process_time()
    codes = lobcod.encode(
        (image if several else image[0]).astype(np.float32),
        atoms.astype(np.float32),
        **options,
        base="none",
        border="periodic",
        channel_axis=0 if several else None,
        tolerance=tolerance,
        threads=1,
    )
    seconds = time.process_time() - started
    maps = codes.to_maps().astype(float)
    return seconds, maps.reshape(len(image), len(atoms), *image.shape[1:])


def code_with_sporco(model, image, atoms, iterations, rho):
    """Codes after so many iterations."""
    from sporco.admm import cbpdn

    kind = getattr(cbpdn, model["peer"])
    options = {
        "Verbose": False,
        "MaxMainIter": iterations,
        "rho": rho,
        "RelaxParam": 1.8,
        "AutoRho": {"Enabled": False},
        "RelStopTol": 0.0,
        "DataType": np.float32,
    }
    if model.get("nonnegative"):
        options["NonNegCoef"] = True
    small = np.moveaxis(image / 255, 0, -1).astype(np.float32)
    weights = [model["penalty"] / 255] if "penalty" in model else [model["max_error"] / 255]
    if model["peer"] == "ConvBPDNJoint":
        weights.append(model["joint"] / 255)
    if model["peer"] == "ConvElasticNet":
        weights.append(model["elastic"])
    started = time.process_time()
    solver = kind(np.moveaxis(atoms, 0, -1).astype(np.float32), small, *weights, opt=kind.Options(options), dimK=0)
    maps = solver.solve()
    seconds = time.process_time() - started
    # (h, w, channels, 1, atoms)
    maps = np.moveaxis(maps.reshape(*image.shape[1:], -1, len(atoms)), (2, 3), (0, 1))
    return seconds, 255.0 * maps.astype(float)


def coding(name, size):
    """The curves of both programs on one coding problem."""
    model, side = dict(CODING[name]), 64 if size == "quick" else 256
    channels = 3 if "joint" in model else 1
    image = np.stack([scene(side, side, seed) for seed in range(channels)])
    image = image - image.mean(axis=(1, 2), keepdims=True)
    atoms = lobcod.cosine_dictionary(36, (8, 8))
    if "relative_error" in model:
        model["max_error"] = model.pop("relative_error") * float(np.linalg.norm(image))
    runs = {"lobcod": []}
    for tolerance in (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4):
        runs["lobcod"].append(timed(tolerance, lambda: code_with_lobcod(model, image, atoms, tolerance)))
    code_with_sporco(model, image, atoms, 1, RHOS[0])
    for rho in RHOS:
        ladder = (20, 60, 180, 500) if size == "quick" else (20, 60, 180, 500, 1500)
        runs[f"SPORCO, rho {rho:g}"] = [
            timed(count, lambda: code_with_sporco(model, image, atoms, count, rho)) for count in ladder
        ]
    score = lambda maps: {"score": float(score_of_codes(model, image, atoms, maps))}
    return compared(model, runs, score)


def timed(effort, work):
    """Effort, seconds and answer of a run; the fastest of three if it is short."""
    found = [work()]
    if found[0][0] < 0.5:
        found += [work(), work()]
    return effort, *min(found, key=lambda one: one[0])


def compared(model, runs, score):
    """The points of every solver, and the seconds of the first within 0.1 % of the best score of all."""
    points = {
        solver: [{"effort": effort, "seconds": seconds, **score(*answer)} for effort, seconds, *answer in tried]
        for solver, tried in runs.items()
    }
    best = min(point["score"] for tried in points.values() for point in tried)
    first = lambda tried: next((point["seconds"] for point in tried if point["score"] <= best * (1 + WITHIN)), None)
    rows = {solver: {"points": tried, "seconds": first(tried)} for solver, tried in points.items()}
    return {"model": model, "best": best, "solvers": rows}


def simulate(channels, samples, atoms, length, per_atom, noise):
    """A recording of planted atoms u v^T, (channels, samples), and the factors."""
    generator = np.random.default_rng(3)
    grid, window = np.arange(length) / length, np.hanning(length)
    v = np.stack(
        [window * np.sin(2 * np.pi * (generator.uniform(1, 8) * grid + generator.random())) for _ in range(atoms)]
    )
    u = generator.normal(size=(atoms, channels))
    u, v = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (u, v))
    codes = np.zeros((atoms, samples - length + 1))
    for row in codes:
        row[generator.choice(row.size, per_atom, replace=False)] = generator.uniform(5, 15, per_atom)
    sources = np.stack([np.convolve(code, wave) for code, wave in zip(codes, v)])
    return u.T @ sources + noise * generator.normal(size=(channels, samples)), u, v


def objective(signal, dictionary, codes, penalty):
    """1/2 ||X - sum z * D||^2 + penalty sum z, codes (m, samples + length - 1), border zero."""
    length = dictionary.shape[-1]
    made = np.zeros((signal.shape[0], signal.shape[1] + 2 * (length - 1)))
    for atom, code in zip(dictionary, codes):
        for at in np.flatnonzero(code):
            made[:, at : at + length] += code[at] * atom
    rest = np.pad(signal, ((0, 0), (length - 1, length - 1))) - made
    return 0.5 * np.sum(rest**2) + penalty * np.abs(codes).sum()


def recovery(u, v, dictionary):
    """Smallest over the planted atoms of the largest correlation with a learnt atom, over all shifts."""
    best = []
    for weights, wave in zip(u, v):
        projected = (
            np.einsum("c,kct->kt", weights, dictionary)
            / np.linalg.norm(dictionary.reshape(len(dictionary), -1), axis=1)[:, None]
        )
        best.append(max(np.abs(np.correlate(row, wave, mode="full")).max() for row in projected))
    return min(best)


def learn_with_lobcod(signal, first, penalty, model, passes):
    """Dictionary and codes of so many passes."""
    common = {
        "penalty": penalty,
        "channel_axis": 0,
        "base": "none",
        "border": "zero",
        "nonnegative": True,
        "threads": 1,
        "tolerance": 1e-4,
    }
    started = time.process_time()
    result = lobcod.learn([signal], size=first.shape[-1], init=first, passes=passes, **common, **model)
    seconds = time.process_time() - started
    codes = lobcod.encode(signal, result.dictionary, **common)
    shape = (len(first), *signal.shape[:1], first.shape[-1])
    return seconds, result.dictionary.reshape(shape), codes.maps().reshape(len(first), -1)


def learn_with_alphacsc(signal, first, penalty, model, iterations):
    """Dictionary and codes of so many alternations."""
    from alphacsc.learn_d_z_multi import learn_d_z_multi

    length, channels = first.shape[-1], signal.shape[0]
    padded = np.pad(signal, ((0, 0), (length - 1, length - 1)))
    init = first
    if model["rank"]:
        left, _, right = np.linalg.svd(first, full_matrices=False)
        init = np.concatenate([left[:, :, 0], right[:, 0]], axis=1)
    started = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        found = learn_d_z_multi(
            padded[None],
            len(first),
            length,
            n_iter=iterations,
            reg=penalty,
            lmbd_max="fixed",
            rank1=bool(model["rank"]),
            algorithm="greedy" if model["grow"] else "batch",
            solver_z="lgcd",
            solver_z_kwargs={"tol": 1e-3, "max_iter": 1e6},
            D_init="greedy" if model["grow"] else init,
            uv_constraint="separate" if model["rank"] else "auto",
            random_state=0,
            n_jobs=1,
            verbose=0,
            eps=-np.inf,
        )
    seconds = time.process_time() - started
    dictionary, codes = found[2], found[3][0]
    if model["rank"]:
        dictionary = dictionary[:, :channels, None] * dictionary[:, None, channels:]
    return seconds, dictionary, codes


LEARNERS = {"lobcod": learn_with_lobcod, "alphacsc": learn_with_alphacsc}


def learning(name, size):
    """The curves of both programs on one learning problem."""
    model, shape = LEARNING[name]
    signal, u, v = simulate(*shape)
    channels, _, atoms, length = shape[:4]
    generator = np.random.default_rng(0)
    # Initial atoms of rank 1: patches of the recording, projected.
    starts = generator.integers(0, signal.shape[1] - length, atoms)
    patches = np.stack([signal[:, at : at + length] for at in starts])
    left, _, right = np.linalg.svd(patches, full_matrices=False)
    first = left[:, :, 0, None] * right[:, None, 0]
    if channels == 1:
        first, u = patches / np.linalg.norm(patches, axis=(1, 2), keepdims=True), np.ones_like(u)
    correlations = [np.abs(np.correlate(np.einsum("c,ct->t", a, signal), b, mode="full")).max() for a, b in zip(u, v)]
    penalty = 0.1 * float(max(correlations))
    short = size == "quick" or channels > 100
    ladder = [atoms, 2 * atoms, 4 * atoms] if model["grow"] else [5, 20, 80][: 2 if short else 3]
    runs = {}
    for solver, run in LEARNERS.items():
        # Compiles, where a solver is compiled on first use.
        run(signal[:, : 20 * length], first, penalty, model, max(1, atoms if model["grow"] else 1))
        runs[solver] = []
        for count in ladder:
            runs[solver].append((count, *run(signal, first, penalty, model, count)))
    score = lambda dictionary, codes: {
        "score": float(objective(signal, dictionary, codes, penalty)),
        "recovery": float(recovery(u, v, dictionary)),
    }
    return compared({**model, "penalty": penalty}, runs, score)


CODING = {
    "non-negative codes": {"peer": "ConvBPDN", "penalty": PENALTY, "nonnegative": True},
    "elastic net": {"peer": "ConvElasticNet", "penalty": PENALTY, "elastic": 0.5},
    "joint sparsity, 3 channels": {"peer": "ConvBPDNJoint", "penalty": PENALTY, "joint": PENALTY},
    "joint sparsity without l1, 3 channels": {"peer": "ConvBPDNJoint", "penalty": 0.0, "joint": 2 * PENALTY},
    "constrained form": {"peer": "ConvMinL1InL2Ball", "relative_error": 0.1},
}
LEARNING = {
    "learning, non-negative codes": ({"rank": None, "grow": False}, (1, 5000, 3, 64, 12, 0.3)),
    "learning, rank 1, 5 channels": ({"rank": 1, "grow": False}, (5, 5000, 3, 64, 12, 0.3)),
    "learning, rank 1, one atom at a time": ({"rank": 1, "grow": True}, (5, 5000, 3, 64, 12, 0.3)),
    "learning, rank 1, 200 channels, 40 atoms": ({"rank": 1, "grow": False}, (200, 20_000, 40, 64, 20, 0.2)),
}


def main():
    options = parse(__doc__, **{"--only": {"help": "only models whose name contains this", "default": ""}})
    results = Results("models", options, SYNTHETIC)
    # Everything runs in this process.
    results.kept["machine"].update(real_time_priority=False, pinned_to_core=None)
    work = {**{name: coding for name in CODING}, **{name: learning for name in LEARNING}}
    for name, run in work.items():
        large = options.size == "quick" and "200" in name
        if options.only in name and not large:
            found = results.part(name, lambda: run(name, options.size))
            for solver, one in found.get("solvers", {}).items():
                print(name, solver, one["seconds"], one["points"][-1], flush=True)


if __name__ == "__main__":
    main()
