"""Time of a 1-D pursuit to within 1 %, 0.1 % and 0.01 % of the optimum: lobcod, dicodile and alphacsc.

The case of DICOD: a long signal and few long atoms (by default 100 000 samples, 10 atoms of 128), codes of either
sign, border `zero`. The peers, whose atoms stay inside the signal, get it with zeros at both ends, which is the
same problem. The signal is synthetic: random atoms (smooth bursts), each placed at random with Gaussian heights,
and white noise; the penalty is a tenth of the largest one.

Peers, both in double precision, which is all they have:
- dicodile: its local greedy coordinate descent, the program that one of its workers runs, called in process (no MPI
  in the way);
- alphacsc: update_z_multi with solver lgcd.

They stop by the size of an update and report no history, so each runs with stricter and stricter tolerances, every
run from zero, and is charged only the run whose answer is the first to be good enough. Numba compiles beforehand,
on a short signal. One thread, one core, the repeats interleaved, medians; the objective of every answer is computed
by one function here.

    python3 -m venv .venv-1d && .venv-1d/bin/pip install -r paper/requirements-1d.txt
    cargo build --release
    .venv-1d/bin/python paper/bench_1d.py [--quick] [--out 1d.json]
"""

import argparse
import contextlib
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np
from scipy.signal import oaconvolve

from lib.common import BINARY, origin

LEVELS = (1e-2, 1e-3, 1e-4)
# Relative to the penalty: from far too coarse to strict.
TOLERANCES = [10.0 ** (-step / 2) for step in range(0, 11)]


def make(samples, atoms, length):
    """A signal with zeros at both ends, as the peers want it, and its atoms, unit norm."""
    generator = np.random.default_rng(1)
    grid = np.arange(length)
    window = np.hanning(length)
    waves = [
        window
        * np.sin(2 * np.pi * generator.uniform(2, 20) * grid / length + generator.uniform(0, 6.3))
        * np.exp(-generator.uniform(0, 4) * grid / length)
        for _ in range(atoms)
    ]
    dictionary = np.stack([wave / np.linalg.norm(wave) for wave in waves])
    places = samples - length + 1
    codes = np.zeros((atoms, places))
    hits = generator.random((atoms, places)) < 0.002
    codes[hits] = generator.normal(scale=10.0, size=hits.sum())
    signal = synthesis(codes, dictionary) + generator.normal(scale=0.3, size=samples)
    return np.pad(signal, length - 1), dictionary


def synthesis(codes, dictionary):
    return sum(oaconvolve(code, atom) for code, atom in zip(codes, dictionary))


def correlations(residual, dictionary):
    return np.stack([oaconvolve(residual, atom[::-1], mode="valid") for atom in dictionary])


def objective(codes, problem):
    signal, dictionary, penalty = problem
    return 0.5 * np.sum((signal - synthesis(codes, dictionary)) ** 2) + penalty * np.abs(codes).sum()


def gap(codes, problem):
    signal, dictionary, penalty = problem
    residual = signal - synthesis(codes, dictionary)
    scaled = residual * min(1.0, penalty / np.abs(correlations(residual, dictionary)).max())
    return objective(codes, problem) - (0.5 * signal @ signal - 0.5 * np.sum((signal - scaled) ** 2))


def run_dicodile(problem, tolerance):
    from dicodile.update_z.coordinate_descent import coordinate_descent

    signal, dictionary, penalty = problem
    with contextlib.redirect_stdout(io.StringIO()):
        return coordinate_descent(signal[None], dictionary[:, None], penalty, tol=tolerance * penalty, max_iter=10**9)[
            0
        ]


def run_alphacsc(problem, tolerance):
    from alphacsc.update_z_multi import update_z_multi

    signal, dictionary, penalty = problem
    kwargs = {"tol": tolerance * penalty, "max_iter": 1e9}
    return update_z_multi(
        signal[None, None], dictionary[:, None], penalty, solver="lgcd", solver_kwargs=kwargs, positive=False
    )[0][0]


PEERS = {"dicodile": run_dicodile, "alphacsc": run_alphacsc}


def encode(folder, penalty, *extra):
    command = [
        BINARY,
        "encode",
        folder / "signal.npy",
        "--dictionary",
        folder / "atoms.npy",
        "--penalty",
        repr(penalty),
        "--border",
        "zero",
        "--base",
        "none",
        "--threads",
        1,
        "--json",
        "--quiet",
        *extra,
    ]
    return json.loads(subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, check=True).stdout)


def proved_optimum(folder, problem):
    """The objective of lobcod's codes at a tight tolerance, its gap computed here."""
    encode(folder, problem[2], "--tolerance", 1e-7, "--precision", "f64", "-o", folder / "codes.npz")
    file = np.load(folder / "codes.npz")
    codes = np.zeros((len(problem[1]), len(problem[0]) - problem[1].shape[1] + 1))
    codes[file["atom"], file["position"].reshape(len(file["atom"]), -1)[:, -1] + problem[1].shape[1] - 1] = file[
        "value"
    ]
    value, left = objective(codes, problem), gap(codes, problem)
    if left > LEVELS[-1] / 10 * value:
        raise SystemExit(f"the codes are not optimal: objective {value}, gap {left}")
    return value, np.count_nonzero(codes)


def peer_times(name, problem, optimum, limit):
    """Seconds of the first run of the ladder that reaches each level."""
    found = [None] * len(LEVELS)
    for tolerance in TOLERANCES:
        started = time.process_time()
        codes = PEERS[name](problem, tolerance)
        seconds = time.process_time() - started
        excess = objective(codes, problem) / optimum - 1
        print(f"  {name}, tolerance {tolerance:.1e}: {seconds:.2f} s, {excess:.1e} above", file=sys.stderr, flush=True)
        found = [before or (seconds if excess <= level else None) for before, level in zip(found, LEVELS)]
        if None not in found or seconds > limit:
            break
    return found


def our_times(folder, penalty, optimum, precision):
    history = encode(folder, penalty, "--tolerance", 1e-5, "--precision", precision)["history"]
    reached = lambda level: next((p["seconds"] for p in history if p["objective"] <= optimum * (1 + level)), None)
    return [reached(level) for level in LEVELS]


def median(times):
    return None if None in times else statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--atoms", type=int, default=10)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--penalty", type=float, default=0.1, help="fraction of the largest")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--limit", type=float, default=120.0, help="no stricter tolerance after a run of so many seconds"
    )
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--quick", action="store_true", help="one repeat")
    parser.add_argument("--out", type=Path, help="JSON file of the results")
    options = parser.parse_args()
    os.sched_setaffinity(0, {options.core})
    signal, dictionary = make(options.samples, options.atoms, options.length)
    penalty = options.penalty * float(np.abs(correlations(signal, dictionary)).max())
    problem = (signal, dictionary, penalty)
    short = (signal[: 8 * options.length].copy(), dictionary, penalty)
    for run in PEERS.values():
        run(short, 0.1)
    solvers = {"lobcod, f32": [], "lobcod, f64": [], **{name: [] for name in PEERS}}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "signal.npy", signal[options.length - 1 : 1 - options.length])
        np.save(folder / "atoms.npy", dictionary)
        optimum, nonzeros = proved_optimum(folder, problem)
        for _ in range(1 if options.quick else options.repeats):
            for solver, runs in solvers.items():
                runs.append(
                    our_times(folder, penalty, optimum, solver[-3:])
                    if solver.startswith("lobcod")
                    else peer_times(solver, problem, optimum, options.limit)
                )
    rows = [
        {"solver": solver, "seconds": [median(column) for column in zip(*runs)]} for solver, runs in solvers.items()
    ]
    print(
        f"{options.samples} samples, {options.atoms} atoms of {options.length}, penalty {options.penalty:g} of "
        f"the largest: optimum {optimum:.6g} with {nonzeros} codes"
    )
    print("| solver | s to 1 % | 0.1 % | 0.01 % | relative to lobcod, f64 |\n|---|---|---|---|---|")
    ours = rows[1]["seconds"]
    show = lambda value: "not reached" if value is None else f"{value:.3g}"
    for row in rows:
        ratios = ["-" if None in (value, base) else f"{value / base:.3g}" for value, base in zip(row["seconds"], ours)]
        print(" | ".join(["", row["solver"], *map(show, row["seconds"]), " / ".join(ratios), ""]).strip())
    if options.out:
        load = round(os.getloadavg()[0], 1)
        problem = {"samples": options.samples, "atoms": options.atoms, "length": options.length, "penalty": penalty}
        found = {"optimum": optimum, "nonzeros": int(nonzeros), "rows": [{**row, "load_average": load} for row in rows]}
        options.out.write_text(json.dumps({**origin(), **problem, **found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
