"""Models compared with SPORCO and alphacsc: the same problem, one function for the objective, one thread.

Coding (`lib/model_coding.py`): synthetic images, 36 cosine atoms of 8x8, border `periodic`, single precision.
SPORCO gets its image divided by 255, relaxation 1.8, the best of five `rho` (of the best one or two with the large
image), and none of the statistics it computes by default. Its score is read off every iteration or every 2 % of
them; the reading does not count, nor do the plans of its transforms. lobcod is run with ever lower tolerances,
each run from the start, whole and certified, the fastest of three short ones.

Learning (`lib/model_learning.py`): simulated recordings of planted atoms in noise, non-negative codes, the border
`zero` (alphacsc, whose atoms are inside the signal, gets zeros at both ends, which is the same problem), the same
penalty and the same initial atoms. alphacsc is read off after every iteration, lobcod is run with ever more passes.
Recovery is the smallest correlation of a planted atom with a learnt one, over all shifts.

Every program is charged the processor seconds to within 0.1 % of the best score. Learning ends at different scores:
there it is the best one that both programs reach, and the table has how far above the best of all each one ends.

    python3 -m venv .venv-models && .venv-models/bin/pip install -r paper/requirements-models.txt maturin
    .venv-models/bin/maturin develop --release -m python/Cargo.toml
    .venv-models/bin/python paper/bench_models.py [--quick|--full] [--only WORDS]
"""

import os
import warnings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")

from lib.common import SYNTHETIC, Results, parse
from lib.model_coding import CODING, SIDES, coding
from lib.model_learning import LEARNING, learning

WITHIN = 1e-3


def compared(model, curves, convex):
    """The points of every solver, and the seconds of the first near the best score, or of the best that both reach."""
    names = ("seconds", "score", "recovery")
    best = {solver: min(point[1] for point in curve) for solver, curve in curves.items()}
    theirs = min(score for solver, score in best.items() if solver != "lobcod")
    near = (min if convex else max)(best["lobcod"], theirs) * (1 + WITHIN)
    first = lambda curve: next((point[0] for point in curve if point[1] <= near), None)
    # Enough of a curve to draw it.
    thin = lambda curve: curve[:: max(1, len(curve) // 30)] + curve[-1:]
    solvers = {
        solver: {"points": [dict(zip(names, point)) for point in thin(curve)], "seconds": first(curve)}
        for solver, curve in curves.items()
    }
    return {"model": model, "best": min(best.values()), "solvers": solvers}


def main():
    options = parse(__doc__, **{"--only": {"help": "only models whose name contains this", "default": ""}})
    warnings.simplefilter("ignore")
    results = Results("models", options, SYNTHETIC)
    # Everything runs in this process.
    results.kept["machine"].update(real_time_priority=False, pinned_to_core=None)
    work = {}
    for side in reversed(SIDES):
        for name in CODING:
            work[f"{name}, {side}x{side}"] = lambda name=name, side=side: coding(name, side, WITHIN)
    for name in LEARNING:
        work[name] = lambda name=name: learning(name)
    # Parts of earlier versions of this script.
    results.kept["parts"] = {name: part for name, part in results.kept["parts"].items() if name in work}
    for name, run in work.items():
        if options.only in name:
            found = results.part(name, lambda: compared(*run(), name not in LEARNING))
            for solver, one in found.get("solvers", {}).items():
                print(name, "|", solver, one["seconds"], one["points"][-1], flush=True)


if __name__ == "__main__":
    main()
