"""Learning with constraints on codes and atoms: lobcod next to alphacsc on the same simulated recordings.

Every row is one problem: non-negative codes, the border `zero` (alphacsc, whose atoms lie wholly inside the signal,
gets it with zeros at both ends, which is the same problem), the same penalty and the same initial atoms, planted
atoms in noise. One function here computes the objective of every answer. Both run with more and more iterations,
each run from the start, and are charged only the run whose answer is the first within 0.1 % of the best objective
that any of them found. Recovery is the smallest correlation of a planted atom with a learnt one, over all shifts.
CPU seconds, one thread.

    python3 -m venv .venv-models && .venv-models/bin/pip install alphacsc==0.4.1 scipy maturin
    .venv-models/bin/maturin develop --release -m python/Cargo.toml
    .venv-models/bin/python paper/bench_models.py [--quick] [--out models.json]
"""

import argparse
import contextlib
import io
import json
import os
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import lobcod
import numpy as np

WITHIN = 1e-3


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


def run_lobcod(signal, first, penalty, model, passes):
    """Dictionary and codes of `passes` passes."""
    started = time.process_time()
    result = lobcod.learn(
        [signal],
        size=first.shape[-1],
        init=first,
        penalty=penalty,
        channel_axis=0,
        base="none",
        border="zero",
        nonnegative=True,
        passes=passes,
        threads=1,
        tolerance=1e-4,
        rank=model["rank"],
        grow=model["grow"],
    )
    seconds = time.process_time() - started
    codes = lobcod.encode(
        signal,
        result.dictionary,
        penalty,
        channel_axis=0,
        base="none",
        border="zero",
        nonnegative=True,
        threads=1,
        tolerance=1e-4,
    )
    return seconds, result.dictionary, codes.maps()


def run_alphacsc(signal, first, penalty, model, iterations):
    """Dictionary and codes of `iterations` alternations."""
    from alphacsc.learn_d_z_multi import learn_d_z_multi

    length = first.shape[-1]
    padded = np.pad(signal, ((0, 0), (length - 1, length - 1)))
    if model["rank"]:
        left, _, right = np.linalg.svd(first)
        init = np.concatenate([left[:, :, 0], right[:, 0]], axis=1)
    else:
        init = first
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
            uv_constraint="separate",
            random_state=0,
            n_jobs=1,
            verbose=0,
            eps=-np.inf,
        )
    seconds = time.process_time() - started
    dictionary, codes = found[2], found[3][0]
    if model["rank"]:
        channels = signal.shape[0]
        dictionary = dictionary[:, :channels, None] * dictionary[:, None, channels:]
    return seconds, dictionary, codes


SOLVERS = {"lobcod": run_lobcod, "alphacsc": run_alphacsc}
MODELS = {
    "non-negative codes, one channel": ({"rank": None, "grow": False}, (1, 5000, 3, 64, 12, 0.3)),
    "non-negative codes, rank 1, 5 channels": ({"rank": 1, "grow": False}, (5, 5000, 3, 64, 12, 0.3)),
    "rank 1, atoms one at a time, 5 channels": ({"rank": 1, "grow": True}, (5, 5000, 3, 64, 12, 0.3)),
    "rank 1, 200 channels, 40 atoms": ({"rank": 1, "grow": False}, (200, 20_000, 40, 64, 20, 0.2)),
}


def row(name, quick):
    """The curves of both programs on one problem."""
    model, shape = MODELS[name]
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
    ladder = [atoms, 2 * atoms, 4 * atoms] if model["grow"] else [5, 20, 80][: 2 if quick or channels > 100 else 3]
    found = {}
    for solver, run in SOLVERS.items():
        run(
            signal[:, : 20 * length] if channels < 100 else signal[:5, : 20 * length],
            first[:, :5] if channels >= 100 else first,
            penalty,
            model,
            max(1, atoms if model["grow"] else 1),
        )
        points = []
        for count in ladder:
            seconds, dictionary, codes = run(signal, first, penalty, model, count)
            points.append(
                {
                    "iterations": count,
                    "seconds": seconds,
                    "objective": objective(signal, dictionary, codes, penalty),
                    "recovery": recovery(u, v, dictionary),
                }
            )
            print(f"  {name}: {solver} {points[-1]}", flush=True)
        found[solver] = points
    best = min(point["objective"] for points in found.values() for point in points)
    for solver, points in found.items():
        reached = next((point["seconds"] for point in points if point["objective"] <= best * (1 + WITHIN)), None)
        found[solver] = {"points": points, "seconds": reached}
    return {"model": name, "penalty": penalty, "best": best, "solvers": found}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="shorter ladders, without the problem of 200 channels")
    parser.add_argument("--only", help="only models whose name contains this")
    parser.add_argument("--out", type=Path, help="JSON file of the results")
    options = parser.parse_args()
    names = [
        name for name in MODELS if (not options.only or options.only in name) and not (options.quick and "200" in name)
    ]
    rows = [row(name, options.quick) for name in names]
    print(
        "| model | solver | CPU s to 0.1 % of the best | last objective, above the best | recovery |\n|---|---|---|---|---|"
    )
    for one in rows:
        for solver, result in one["solvers"].items():
            last = result["points"][-1]
            seconds = "not reached" if result["seconds"] is None else f"{result['seconds']:.3g}"
            print(
                f"| {one['model']} | {solver} | {seconds} | {last['objective'] / one['best'] - 1:.1e} | {last['recovery']:.3f} |"
            )
    if options.out:
        options.out.write_text(json.dumps({"rows": rows, "load_average": os.getloadavg()[0]}, indent=1))


if __name__ == "__main__":
    main()
