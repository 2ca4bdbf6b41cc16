"""What Python adds to the time of the solver: `python benches/overhead.py [SIDE]`, with the release wheel installed.

Everything outside the solver counts as added, also the base layer and the copy of the image, which a Rust program pays for too.
"""

import statistics
import sys
import time

import lobcod

REPEATS = 9


def main() -> None:
    """Prints the share, for pictures of single and double precision and of 8 bit."""
    side = int(sys.argv[1]) if len(sys.argv) > 1 else 512
    picture = lobcod.still_life(side).mean(axis=-1)
    for dtype in ("float32", "float64", "uint8"):
        image = picture.astype(dtype)
        added, solver = [], []
        for _ in range(REPEATS):
            begin = time.perf_counter()
            codes = lobcod.encode(image, penalty=20)
            whole = time.perf_counter() - begin
            solver.append(codes.report.seconds)
            added.append(whole - codes.report.seconds)
        share = statistics.median(a / s for a, s in zip(added, solver))
        print(
            f"{side}x{side} {dtype}: solver {statistics.median(solver):.3f} s, added {1e3 * statistics.median(added):.1f} ms, "
            f"{100 * share:.1f} % (medians of {REPEATS})"
        )


if __name__ == "__main__":
    main()
