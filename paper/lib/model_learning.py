"""Learning problems of bench_models.py: planted atoms, one objective, and how lobcod and alphacsc solve them."""

import contextlib
import io
import time

import lobcod
import numpy as np

LEARNING = {
    "learning, non-negative codes": ({"rank": None, "grow": False}, (1, 5000, 3, 64, 12, 0.3)),
    "learning, rank 1, 5 channels": ({"rank": 1, "grow": False}, (5, 5000, 3, 64, 12, 0.3)),
    "learning, rank 1, one atom at a time": ({"rank": 1, "grow": True}, (5, 5000, 3, 64, 12, 0.3)),
    "learning, rank 1, 200 channels, 40 atoms": ({"rank": 1, "grow": False}, (200, 20_000, 40, 64, 20, 0.2)),
}
PASSES = (2, 4, 8, 15, 30, 60)
# Iterations of alphacsc, and how many on the problem of 200 channels.
ITERATIONS, FEW = 30, 3


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
    return float(0.5 * np.sum(rest**2) + penalty * np.abs(codes).sum())


def recovery(u, v, dictionary):
    """Smallest over the planted atoms of the largest correlation with a learnt atom, over all shifts."""
    norms = np.linalg.norm(dictionary.reshape(len(dictionary), -1), axis=1)[:, None]
    best = []
    for weights, wave in zip(u, v):
        projected = np.einsum("c,kct->kt", weights, dictionary) / norms
        best.append(max(np.abs(np.correlate(row, wave, mode="full")).max() for row in projected))
    return float(min(best))


class Recording:
    """A problem: a recording, its planted atoms, initial atoms and the penalty."""

    def __init__(self, model, shape):
        self.model, self.shape = model, shape
        self.signal, self.u, self.v = simulate(*shape)
        channels, _, atoms, length = shape[:4]
        generator = np.random.default_rng(0)
        # Initial atoms of rank 1: patches of the recording, projected.
        starts = generator.integers(0, self.signal.shape[1] - length, atoms)
        patches = np.stack([self.signal[:, at : at + length] for at in starts])
        left, _, right = np.linalg.svd(patches, full_matrices=False)
        self.first = left[:, :, 0, None] * right[:, None, 0]
        if channels == 1:
            self.first = patches / np.linalg.norm(patches, axis=(1, 2), keepdims=True)
            self.u = np.ones_like(self.u)
        seen = (np.einsum("c,ct->t", a, self.signal) for a in self.u)
        correlations = [np.abs(np.correlate(one, b, mode="full")).max() for one, b in zip(seen, self.v)]
        self.penalty = 0.1 * float(max(correlations))

    def point(self, seconds, dictionary, codes):
        score = objective(self.signal, dictionary, codes, self.penalty)
        return seconds, score, recovery(self.u, self.v, dictionary)


def learn_with_lobcod(problem, passes):
    """The point after so many passes; coding the recording with the learnt atoms counts."""
    first, signal = problem.first, problem.signal
    common = {
        "penalty": problem.penalty,
        "channel_axis": 0,
        "base": "none",
        "border": "zero",
        "nonnegative": True,
        "threads": 1,
        "tolerance": 1e-2,
    }
    started = time.process_time()
    result = lobcod.learn([signal], size=first.shape[-1], init=first, passes=passes, **common, **problem.model)
    codes = lobcod.encode(signal, result.dictionary, **common)
    seconds = time.process_time() - started
    return problem.point(seconds, result.dictionary.reshape(first.shape), codes.maps().reshape(len(first), -1))


def learn_with_alphacsc(problem, iterations, signal=None):
    """The points after every iteration; with greedy growth only the last one, with all atoms."""
    from alphacsc.learn_d_z_multi import learn_d_z_multi

    first, rank, grow = problem.first, problem.model["rank"], problem.model["grow"]
    signal = problem.signal if signal is None else signal
    length, channels = first.shape[-1], signal.shape[0]
    padded = np.pad(signal, ((0, 0), (length - 1, length - 1)))
    # alphacsc divides the recording by its deviation, but not the penalty.
    scale = float(padded.std())
    init = first
    if rank:
        left, _, right = np.linalg.svd(first, full_matrices=False)
        init = np.concatenate([left[:, :, 0], right[:, 0]], axis=1)
    whole = lambda atoms: atoms[:, :channels, None] * atoms[:, None, channels:] if rank else atoms
    points, paused, used = [], 0.0, None
    started = time.process_time()

    def record(encoder, _):
        # The codes belong to the atoms before their step, after which unused ones are replaced.
        nonlocal paused, used
        now = time.process_time()
        if signal is problem.signal and used is not None and len(used) == len(first):
            points.append(problem.point(now - started - paused, whole(used), scale * encoder.get_z_hat()[0]))
        used = encoder.D_hat.copy()
        paused += time.process_time() - now

    with contextlib.redirect_stdout(io.StringIO()):
        learn_d_z_multi(
            padded[None],
            len(first),
            length,
            n_iter=iterations,
            reg=problem.penalty / scale,
            lmbd_max="fixed",
            rank1=bool(rank),
            algorithm="greedy" if grow else "batch",
            solver_z="lgcd",
            solver_z_kwargs={"tol": 1e-3, "max_iter": 1e6},
            D_init="greedy" if grow else init,
            uv_constraint="separate" if rank else "auto",
            random_state=0,
            n_jobs=1,
            verbose=0,
            eps=-np.inf,
            raise_on_increase=False,
            callback=record,
        )
    return points


def learning(name):
    """The curves of both programs on one problem: (seconds, score, recovery) of every solver."""
    problem = Recording(*LEARNING[name])
    large = problem.shape[0] > 100
    least = len(problem.first) if problem.model["grow"] else 1
    passes = [count for count in (PASSES[:3] if large else PASSES) if count >= least]
    curves = {"lobcod": [learn_with_lobcod(problem, count) for count in passes]}
    # Compiles on first use.
    learn_with_alphacsc(problem, least, problem.signal[:, :2000])
    curves["alphacsc"] = learn_with_alphacsc(problem, FEW if large else ITERATIONS)
    return {**problem.model, "penalty": problem.penalty}, curves
