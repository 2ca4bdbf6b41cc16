"""What Python adds to the time of the solver: `python benches/overhead.py [SIDE] [--out FILE.json]`, on a release wheel.

Everything outside the solver counts as added, also the base layer and the copy of the image, which a Rust program pays for too.
"""

import argparse
import importlib
import json
import statistics
import sys
import time
from pathlib import Path

import lobcod

REPEATS = 9


def measure(side: int, dtype: str) -> dict[str, float | str]:
    """Medians for an image of that side and type: seconds of the solver, seconds added, their ratio."""
    image = lobcod.still_life(side).mean(axis=-1).astype(dtype)
    added, solver = [], []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        codes = lobcod.encode(image, penalty=20, threads=1)
        whole = time.perf_counter() - begin
        solver.append(codes.report.seconds)
        added.append(whole - codes.report.seconds)
    share = statistics.median(a / s for a, s in zip(added, solver))
    return {
        "side": side,
        "dtype": dtype,
        "solver_seconds": statistics.median(solver),
        "added_seconds": statistics.median(added),
        "share": share,
    }


def main() -> None:
    """Prints the overhead, for images of single and double precision and of 8 bit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("side", nargs="?", type=int, default=512)
    parser.add_argument("--out", type=Path, help="JSON file of the figures")
    options = parser.parse_args()
    rows = [measure(options.side, dtype) for dtype in ("float32", "float64", "uint8")]
    for row in rows:
        print(
            f"{row['side']}x{row['side']} {row['dtype']}: solver {row['solver_seconds']:.3f} s, "
            f"added {1e3 * float(row['added_seconds']):.1f} ms, {100 * float(row['share']):.1f} % (medians of {REPEATS})"
        )
    if options.out:
        sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "paper"))
        origin = importlib.import_module("lib.common").origin("python/benches")
        options.out.write_text(json.dumps({**origin, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
