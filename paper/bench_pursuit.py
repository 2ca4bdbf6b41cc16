"""Time of a pursuit to within 1 %, 0.1 % and 0.01 % of the optimum: lobcod and its peers.

Peers, both in single precision:
- spams: layered LoBCoD (Algorithm 2's pursuit) in numpy with SPAMS' LARS, border `free`;
- sporco: SPORCO's ConvBPDN (ADMM in the Fourier domain) on zero-padded images, border `zero`. Images are padded to
  a length that suits the FFT, and needles entirely in the padding are excluded by their price: the same problem;
- sporco-masked: SPORCO's ConvBPDNMaskDcpl (mask decoupling), border `free`, for the workload with missing pixels.

Every solver runs in a process of its own, single-threaded, pinned to one core; the repeats are interleaved and the
medians reported. Peers are charged the CPU time of their process, with the clock stopped while the objective is
evaluated in float64 and FFT planning done beforehand; lobcod is charged the wall time of its own `history`, so run
this on a quiet machine. The optimum of each border is proved: lobcod's codes at a tight tolerance are read back,
and objective and duality gap computed here in numpy.

Setting up (the header files of OpenBLAS and of Python must be installed, on Debian `apt-get install g++
libopenblas-dev python3-dev`), from the root of the repository:

    python3 -m venv .venv-peers
    .venv-peers/bin/pip install 'numpy<2' 'setuptools<70' wheel
    .venv-peers/bin/pip install --no-build-isolation -r paper/requirements-peers.txt
    cargo build --release
    .venv-peers/bin/python paper/bench_pursuit.py --out pursuit.json          # all workloads
    .venv-peers/bin/python paper/bench_pursuit.py --quick                     # Fruit, once
"""

import argparse
import json
import os
import resource
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np

from lib.common import BINARY, origin, read_codes
from lib.pursuit_peers import Clock, Objective, run_spams, run_sporco, run_sporco_masked
from lib.titles import PURSUIT
from lib.workloads import DICTIONARY, WORKLOADS, input_arguments, known_pixels, load_signals, pinned

SOLVERS = {"lobcod-free": "free", "spams": "free", "sporco-masked": "free", "lobcod-zero": "zero", "sporco": "zero"}
PEERS = {"spams": run_spams, "sporco": run_sporco, "sporco-masked": run_sporco_masked}
TOLERANCES = (1e-2, 1e-3, 1e-4)


def usual_solvers(workload):
    return ["lobcod-free", "sporco-masked"] if workload == "masked" else [s for s in SOLVERS if s != "sporco-masked"]


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


def encode(workload, border, core, *extra):
    return pinned(
        [
            BINARY,
            "encode",
            *input_arguments(workload),
            "--dictionary",
            DICTIONARY,
            "--penalty",
            WORKLOADS[workload][1],
            "--border",
            border,
            "--threads",
            1,
            "--json",
            "--quiet",
            *extra,
        ],
        core,
    )


def proved_optimum(workload, border, core):
    """lobcod's result at a tight tolerance, with objective and gap recomputed from the codes it wrote."""
    signals, atoms = load_signals(workload), np.load(DICTIONARY)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "codes.npz" if len(signals) == 1 else folder
        report = encode(workload, border, core, "--tolerance", 1e-6, "--precision", "f64", "-o", output)
        codes = read_codes(sorted(Path(folder).glob("*.npz")), signals.shape, len(atoms))
    objective = Objective(signals, atoms, WORKLOADS[workload][1], border, known_pixels(workload, signals.shape[1:]))
    value, gap = objective.value(codes), objective.gap(codes)
    if abs(value - report["objective"]) > 1e-6 * value or gap > TOLERANCES[-1] / 2 * value:
        raise SystemExit(f"{workload}, {border}: lobcod reports {report['objective']}, numpy {value} with gap {gap}")
    return value


def measure(solver, workload, core, limit, optimum):
    if solver.startswith("lobcod"):
        return encode(workload, SOLVERS[solver], core, "--tolerance", 1e-4)
    target = optimum * (1 + TOLERANCES[-1])
    return pinned(
        [sys.executable, __file__, "--peer", solver, "--workload", workload, "--limit", limit, "--target", target], core
    )


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
        times = [
            [seconds_to(report["history"], optima[border] * (1 + tolerance)) for report in reports]
            for tolerance in TOLERANCES
        ]
        rows.append(
            {
                "workload": workload,
                "solver": solver,
                "border": border,
                "optimum": optima[border],
                "seconds": [finite(statistics.median(column)) for column in times],
                "all_seconds": [[finite(value) for value in column] for column in times],
                "seconds_per_iteration": seconds_per_iteration(reports),
                "load_average": os.getloadavg()[0],
                "peak_memory_bytes": max(report["peak_memory_bytes"] for report in reports),
            }
        )
    return rows


def table(rows, limit):
    """The summaries as Markdown; ratios are to lobcod with the same border in the same run."""
    lines = [
        "| workload | solver | border | s to 1 % | 0.1 % | 0.01 % | relative to lobcod | s per iteration | peak MB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    ours = {(row["workload"], row["border"]): row["seconds"] for row in rows if row["solver"].startswith("lobcod")}
    for row in rows:
        times = [f"> {limit:g}" if value is None else f"{value:.3g}" for value in row["seconds"]]
        each = row["seconds_per_iteration"]
        base = ours.get((row["workload"], row["border"]), [])
        ratios = [
            "-" if reference is None else f"> {limit / reference:.3g}" if value is None else f"{value / reference:.3g}"
            for value, reference in zip(row["seconds"], base)
        ]
        lines.append(
            " | ".join(
                [
                    "",
                    row["workload"],
                    PURSUIT[row["solver"]],
                    row["border"],
                    *times,
                    " / ".join(ratios),
                    "-" if each is None else f"{each:.3g}",
                    f"{row['peak_memory_bytes'] / 1e6:.0f}",
                    "",
                ]
            ).strip()
        )
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
        options.out.write_text(json.dumps({**origin(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
