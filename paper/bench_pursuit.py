"""Time of a pursuit to within 1 %, 0.1 % and 0.01 % of the optimum: lobcod beside its peers.

Peers, both in single precision:
- spams: layered LoBCoD (Algorithm 2's pursuit) in numpy with SPAMS' LARS, border `free`;
- sporco: SPORCO's ConvBPDN (ADMM in the Fourier domain) on zero-padded images, border `zero`. Images are
  padded to a length that suits the FFT, and needles wholly in the padding are priced out: the same problem;
- sporco-masked: SPORCO's ConvBPDNMaskDcpl (mask decoupling), border `free`, for the workload with missing pixels.

Every solver runs in a process of its own, single-threaded, pinned to one core; the repeats are
interleaved and the medians reported. Peers are charged the CPU time of their process, with the clock
stopped while the objective is evaluated in float64 and FFT planning done beforehand; lobcod is charged
the wall time of its own `history`, so run this on a quiet machine. The optimum of each border is proved:
lobcod's codes at a tight tolerance are read back, and objective and duality gap computed here in numpy.

Setting up (the header files of OpenBLAS and of Python must be installed, on Debian
`apt-get install g++ libopenblas-dev python3-dev`), from the root of the repository:

    python3 -m venv .venv-peers
    .venv-peers/bin/pip install 'numpy<2' 'setuptools<70' wheel
    .venv-peers/bin/pip install --no-build-isolation -r paper/requirements-peers.txt
    cargo build --release
    .venv-peers/bin/python paper/bench_pursuit.py --out pursuit.json          # all workloads
    .venv-peers/bin/python paper/bench_pursuit.py --quick                     # Fruit, once

The images are looked for in $LOBCOD_DATA, else in ../shared/data beside the repository; $LOBCOD_BINARY names another
program to measure.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from scipy import sparse

from pursuit_peers import OVERHANG, SIDE, Clock, Objective, run_spams, run_sporco, run_sporco_masked

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("LOBCOD_DATA", ROOT.parent / "shared" / "data"))
DICTIONARY = DATA / "dictionaries" / "D_initial_81x8x8.npy"
BINARY = Path(os.environ.get("LOBCOD_BINARY", ROOT / "target" / "release" / "lobcod"))
WORKLOADS = {"fruit": ("fruit/*.png", 20.0), "barbara-20": ("standard/barbara.png", 20.0),
             "barbara-5": ("standard/barbara.png", 5.0), "mosaic-1024": (None, 20.0), "mosaic-2048": (None, 20.0),
             "masked": ("standard/barbara.png", 20.0)}
# The four quarters of mosaic-1024; mosaic-2048 is that one and its mirror images.
MOSAIC = (("barbara", "boat"), ("hill", "man"))
MADE = Path(tempfile.gettempdir()) / "lobcod-bench"
SOLVERS = {"lobcod-free": "free", "spams": "free", "sporco-masked": "free", "lobcod-zero": "zero", "sporco": "zero"}
TITLES = {"lobcod-free": "lobcod", "lobcod-zero": "lobcod", "spams": "layered LoBCoD, SPAMS LARS, f32",
          "sporco": "SPORCO ConvBPDN ADMM, f32", "sporco-masked": "SPORCO ConvBPDNMaskDcpl ADMM, f32"}
PEERS = {"spams": run_spams, "sporco": run_sporco, "sporco-masked": run_sporco_masked}
TOLERANCES = (1e-2, 1e-3, 1e-4)


def image_files(workload):
    if not workload.startswith("mosaic"):
        return sorted(DATA.glob(WORKLOADS[workload][0]))
    MADE.mkdir(exist_ok=True)
    quarters = [[np.asarray(Image.open(DATA / "standard" / f"{name}.png").convert("L")) for name in row] for row in MOSAIC]
    mosaic = np.block(quarters)
    if workload == "mosaic-2048":
        mosaic = np.pad(mosaic, (0, len(mosaic)), mode="symmetric")
    made, part = MADE / f"{workload}.png", MADE / f"{workload}-{os.getpid()}.png"
    Image.fromarray(mosaic).save(part)
    part.replace(made)  # Another run may be reading it.
    return [made]


def known_pixels(workload, shape):
    """None, or for `masked` which half of the pixels is known."""
    return np.random.default_rng(0).random(shape) < 0.5 if workload == "masked" else None


def input_arguments(workload):
    """What lobcod is given: pictures less their local mean, or the same numbers and a mask."""
    if workload != "masked":
        return [*image_files(workload), "--base", "local-mean"]
    MADE.mkdir(exist_ok=True)
    signal = load_signals(workload)[0]
    np.save(MADE / "signal.npy", signal)
    np.save(MADE / "known.npy", known_pixels(workload, signal.shape).astype(np.uint8))
    return [MADE / "signal.npy", "--known", MADE / "known.npy", "--base", "none"]


def usual_solvers(workload):
    return ["lobcod-free", "sporco-masked"] if workload == "masked" else [s for s in SOLVERS if s != "sporco-masked"]


def load_signals(workload):
    """Images (k, h, w) in 0..255 less their 8x8 local mean (4 pixels before, 3 after, mirrored)."""
    signals = []
    for path in image_files(workload):
        image = np.asarray(Image.open(path).convert("L"), dtype=np.float64)
        mirrored = np.pad(image, (SIDE // 2, SIDE // 2 - 1), mode="reflect")
        windows = np.lib.stride_tricks.sliding_window_view(mirrored, (SIDE, SIDE))
        signals.append(image - windows.mean(axis=(2, 3)))
    return np.stack(signals)


def peer_process(options):
    """The body of a peer's own process: one run, its curve as JSON on stdout."""
    signals, atoms = load_signals(options.workload[0]), np.load(DICTIONARY)
    penalty = WORKLOADS[options.workload[0]][1]
    known = known_pixels(options.workload[0], signals.shape[1:])
    objective = Objective(signals, atoms, penalty, SOLVERS[options.peer], known)
    start_clock = lambda: Clock(objective.value, options.limit, options.target)
    extra = () if known is None else (known,)
    clock = PEERS[options.peer](signals, atoms, penalty, start_clock, *extra)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"history": clock.curve, "iterations": clock.iteration, "peak_memory_bytes": peak}))


def pinned(command, core):
    """Run a command on one core and one thread; the JSON it prints."""
    single = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    done = subprocess.run(["taskset", "-c", str(core), *map(str, command)], stdout=subprocess.PIPE, check=True,
                          env={**os.environ, **single, "PYTHONWARNINGS": "ignore"})
    return json.loads(done.stdout.splitlines()[-1] if command[0] == sys.executable else done.stdout)


def encode(workload, border, core, *extra):
    return pinned([BINARY, "encode", *input_arguments(workload), "--dictionary", DICTIONARY,
                   "--penalty", WORKLOADS[workload][1], "--border", border,
                   "--threads", 1, "--json", "--quiet", *extra], core)


def proved_optimum(workload, border, core):
    """lobcod's answer at a tight tolerance, with objective and gap recomputed from the codes it wrote."""
    signals, atoms = load_signals(workload), np.load(DICTIONARY)
    images, rows, columns = np.add(signals.shape, (0, OVERHANG, OVERHANG))
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "codes.npz" if images == 1 else folder
        report = encode(workload, border, core, "--tolerance", 1e-6, "--precision", "f64", "-o", output)
        files = [np.load(path) for path in sorted(Path(folder).glob("*.npz"))]
        values = np.concatenate([file["value"] for file in files])
        atom = np.concatenate([file["atom"] for file in files])
        place = [(image * rows + file["position"][:, 0] + OVERHANG) * columns + file["position"][:, 1] + OVERHANG
                 for image, file in enumerate(files)]
    codes = sparse.csr_matrix((values, (np.concatenate(place), atom)), shape=(images * rows * columns, len(atoms)))
    objective = Objective(signals, atoms, WORKLOADS[workload][1], border, known_pixels(workload, signals.shape[1:]))
    value, gap = objective.value(codes), objective.gap(codes)
    if abs(value - report["objective"]) > 1e-6 * value or gap > TOLERANCES[-1] / 2 * value:
        raise SystemExit(f"{workload}, {border}: lobcod says {report['objective']}, numpy {value} with gap {gap}")
    return value


def measure(solver, workload, core, limit, optimum):
    if solver.startswith("lobcod"):
        return encode(workload, SOLVERS[solver], core, "--tolerance", 1e-4)
    target = optimum * (1 + TOLERANCES[-1])
    return pinned([sys.executable, __file__, "--peer", solver, "--workload", workload, "--limit", limit,
                   "--target", target], core)


def seconds_to(history, objective):
    return next((point["seconds"] for point in history if point["objective"] <= objective), float("inf"))


def seconds_per_iteration(reports):
    """Of a peer; lobcod's sweeps differ too much from each other."""
    each = [report["history"][-1]["seconds"] / report["iterations"] for report in reports if "iterations" in report]
    return statistics.median(each) if each else None


def finite(seconds):
    """None for a level that was never reached: JSON has no infinity."""
    return seconds if np.isfinite(seconds) else None


def benchmark(workload, options):
    """Interleaved repeats of every solver; a summary for each."""
    solvers = options.solvers or usual_solvers(workload)
    borders = {SOLVERS[solver] for solver in solvers if solver.startswith("lobcod")}
    optima = {border: proved_optimum(workload, border, options.core) for border in sorted(borders)}
    runs = {solver: [] for solver in solvers}
    for repeat in range(options.repeats):
        for solver in solvers:
            print(f"{workload}: {solver}, repeat {repeat + 1}", file=sys.stderr, flush=True)
            optimum = optima.get(SOLVERS[solver], 0.0)
            runs[solver].append(measure(solver, workload, options.core, options.limit, optimum))
    for solver, reports in runs.items():
        best = min(point["objective"] for report in reports for point in report["history"])
        optima[SOLVERS[solver]] = min(best, optima.get(SOLVERS[solver], best))
    rows = []
    for solver, reports in runs.items():
        border = SOLVERS[solver]
        times = [[seconds_to(report["history"], optima[border] * (1 + tolerance)) for report in reports]
                 for tolerance in TOLERANCES]
        rows.append({"workload": workload, "solver": solver, "border": border, "optimum": optima[border],
                     "seconds": [finite(statistics.median(column)) for column in times],
                     "all_seconds": [[finite(value) for value in column] for column in times],
                     "seconds_per_iteration": seconds_per_iteration(reports),
                     "load_average": os.getloadavg()[0],
                     "peak_memory_bytes": max(report["peak_memory_bytes"] for report in reports)})
    return rows


def table(rows, limit):
    """The summaries as Markdown; ratios are to lobcod with the same border in the same run."""
    lines = ["| workload | solver | border | s to 1 % | 0.1 % | 0.01 % | times lobcod's | s an iteration | peak MB |",
             "|---|---|---|---|---|---|---|---|---|"]
    ours = {(row["workload"], row["border"]): row["seconds"] for row in rows if row["solver"].startswith("lobcod")}
    for row in rows:
        times = [f"> {limit:g}" if value is None else f"{value:.3g}" for value in row["seconds"]]
        each = row["seconds_per_iteration"]
        base = ours.get((row["workload"], row["border"]), [])
        ratios = ["-" if reference is None else f"> {limit / reference:.3g}" if value is None
                  else f"{value / reference:.3g}" for value, reference in zip(row["seconds"], base)]
        lines.append(" | ".join(["", row["workload"], TITLES[row["solver"]], row["border"], *times,
                                 " / ".join(ratios), "-" if each is None else f"{each:.3g}", f"{row['peak_memory_bytes'] / 1e6:.0f}", ""]).strip())
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workload", action="append", choices=WORKLOADS, help="default: all")
    parser.add_argument("--solvers", nargs="+", choices=SOLVERS, help="default: all that fit")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one run of a peer")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--quick", action="store_true", help="Fruit only, one repeat, 30 s for a peer")
    parser.add_argument("--out", type=Path, help="JSON file of the summaries")
    parser.add_argument("--peer", choices=PEERS, help=argparse.SUPPRESS)
    parser.add_argument("--target", type=float, default=0.0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        return peer_process(options)
    if options.quick:
        options.workload, options.repeats, options.limit = ["fruit"], 1, 30.0
    rows = [row for workload in options.workload or WORKLOADS for row in benchmark(workload, options)]
    print(table(rows, options.limit))
    if options.out:
        options.out.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
