"""The paper's complexity claim: time and memory against pixels N, atoms m, samples of an atom n, non-zeros, and
images I, with fitted slopes.

The paper says that an epoch costs O(I N n m), where methods in the Fourier domain cost O(q I m N log N), and that
nothing is kept but the codes, where slice-based ADMM keeps O(N n). Measured, one thread:
- `epoch`: one sweep of the paper's own schedule and solver (layers, LARS), certificate included;
- `pursuit`: lobcod's pursuit to a relative gap of 1e-2 (another number of sweeps for every problem);
- `stream`: learning from I images one after the other;
- SPORCO's ConvBPDN (FFT-ADMM): one iteration of ten; SBDL: one turn of its pursuit.

Images are synthetic scenes of 256x256 side by side, so that every part of a large one is as hard as a small one. A
slope is that of a straight line through the logarithms: 1 means proportional.

    python paper/complexity.py [--quick|--full]
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from lib import synthetic
from lib.common import EXAMPLES, SYNTHETIC, Results, lobcod, parse, run, without_mean
from lib.synthetic import SCENE, mosaic, waves

PEAK = """import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"""


class Bench:
    def __init__(self, folder):
        self.folder = Path(folder)

    def file(self, name, array):
        np.save(self.folder / name, array.astype(np.float32))
        return self.folder / name

    def encode(self, images, atoms, penalty, *words):
        files = [self.file(f"image{i}.npy", image) for i, image in enumerate(images)]
        command = ["encode", *files, "--dictionary", self.file("atoms.npy", atoms), "--penalty", penalty, *words]
        report = lobcod(*command)
        # Short runs are easily disturbed: the fastest of three counts.
        again = [lobcod(*command) for _ in range(2)] if report["seconds"] < 3 else []
        report = min([report, *again], key=lambda one: one["seconds"])
        return {
            key: report[key]
            for key in (
                "seconds",
                "nonzeros",
                "pixels",
                "working_memory_bytes",
                "peak_memory_bytes",
                "discovery_sweeps",
                "support_sweeps",
            )
        }

    def epoch(self, images, atoms, penalty):
        return self.encode(images, atoms, penalty, "--schedule", "layers", "--local", "lars", "--max-sweeps", 1)

    def pursuit(self, images, atoms, penalty):
        return self.encode(images, atoms, penalty, "--tolerance", 1e-2)

    def stream(self, images):
        files = [self.file(f"image{i}.npy", image) for i, image in enumerate(images)]
        report = lobcod("learn", *files, "--stream", "-o", self.folder / "atoms.npz", "--penalty", 20)
        return {key: report[key] for key in ("seconds", "peak_memory_bytes")}

    def sporco(self, side):
        output, *_ = run([sys.executable, __file__, "--sporco", side], 300)
        return json.loads(output.splitlines()[-1])

    def slices(self, side, seconds):
        signal = self.file("signal.npy", without_mean(mosaic(side)))
        np.save(self.folder / "first.npy", waves(81, 8))
        command = [EXAMPLES / "baseline_learn", "slices", self.folder / "first.npy", 20, seconds, self.folder, signal]
        *lines, peak = run([sys.executable, "-c", PEAK, *command], 300)[0].splitlines()
        ends = [(0.0, 0.0), *(tuple(map(float, line.split())) for line in lines)]
        turn = min((b[0] - a[0]) / (b[1] - a[1]) for a, b in zip(ends[1:], ends[2:]) if b[1] > a[1])
        return {"seconds": turn, "peak_memory_bytes": 1024 * int(peak), "pixels": side * side}


def sporco_process(side):
    """Time of ten iterations after FFT plans are made, and peak memory."""
    import sporco.fft
    from sporco.admm.cbpdn import ConvBPDN

    sporco.fft.pyfftw_threads = 1
    signal = (without_mean(mosaic(side)) / 255).astype(np.float32)
    atoms = np.moveaxis(waves(81, 8), 0, -1).astype(np.float32)
    settings = {
        "rho": 5.0,
        "RelaxParam": 1.8,
        "AutoRho": {"Enabled": False},
        "FastSolve": True,
        "DataType": np.float32,
        "RelStopTol": 0.0,
    }
    solve = lambda count: ConvBPDN(
        atoms, signal, 20 / 255, ConvBPDN.Options({**settings, "MaxMainIter": count})
    ).solve()
    solve(1)
    times = []
    for count in (1, 11):
        began = time.process_time()
        solve(count)
        times.append(time.process_time() - began)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": (times[1] - times[0]) / 10, "peak_memory_bytes": peak, "pixels": side * side}))


def slope(points, x, y):
    points = [p for p in points if p.get(x) and p.get(y)]
    if len(points) < 2:
        return None
    return round(float(np.polyfit(np.log([p[x] for p in points]), np.log([p[y] for p in points]), 1)[0]), 2)


def series(variable, values, measure):
    """Points of `measure` for every value."""
    return fitted(variable, [{variable: value, **measure(value)} for value in values])


def fitted(variable, points):
    """The slopes of time and memory, over all points and over the two largest; and bytes for one more of the
    variable."""
    points = sorted(points, key=lambda point: point[variable])
    memory = "working_memory_bytes" if "working_memory_bytes" in points[0] else "peak_memory_bytes"
    grown = (points[-1][memory] - points[0][memory]) / (points[-1][variable] - points[0][variable])
    return {
        "variable": variable,
        "points": points,
        "slope_seconds": slope(points, variable, "seconds"),
        "slope_seconds_last": slope(points[-2:], variable, "seconds"),
        "slope_memory": slope(points, variable, memory),
        "bytes_each": round(grown, 1),
        "memory": memory,
    }


def main():
    options = parse(__doc__, **{"--sporco": {"type": int, "help": argparse.SUPPRESS}})
    if options.sporco:
        return sporco_process(options.sporco)
    full = options.size == "full"
    results = Results("complexity", options, SYNTHETIC)
    with tempfile.TemporaryDirectory() as folder:
        bench, usual, scene = Bench(folder), waves(81, 8), mosaic(SCENE)
        sides = [128, 256, 512, 1024, 2048] + ([4096, 8192, 16384] if full else [])
        of = lambda sides: [side * side for side in sides]
        root = lambda pixels: int(round(pixels**0.5))
        counts, boxes = [10, 20, 40, 80, 160, 320], [4, 6, 8, 11, 16]
        penalties = [5, 10, 20, 40, 80]
        images = [1, 2, 4, 8, 16] + ([32, 64] if full else [])
        scenes = [synthetic.scene(128, 128, seed) for seed in range(images[-1])]
        work = {
            "epoch, pixels": lambda: series("N", of(sides), lambda n: bench.epoch([mosaic(root(n))], usual, 20)),
            "epoch, atoms": lambda: series("m", counts, lambda m: bench.epoch([scene], waves(m, 8), 20)),
            "epoch, samples of an atom": lambda: series(
                "n", [b * b for b in boxes], lambda n: bench.epoch([scene], waves(81, root(n)), 20)
            ),
            "epoch, images": lambda: series("I", images, lambda i: bench.epoch(scenes[:i], usual, 20)),
            "pursuit, pixels": lambda: series("N", of(sides), lambda n: bench.pursuit([mosaic(root(n))], usual, 20)),
            "pursuit, atoms": lambda: series("m", counts, lambda m: bench.pursuit([scene], waves(m, 8), 20)),
            "pursuit, samples of an atom": lambda: series(
                "n", [b * b for b in boxes], lambda n: bench.pursuit([scene], waves(81, root(n)), 20)
            ),
            "pursuit, non-zeros": lambda: fitted(
                "nonzeros", [{"penalty": p, **bench.pursuit([scene], usual, p)} for p in penalties]
            ),
            "pursuit, images": lambda: series("I", images, lambda i: bench.pursuit(scenes[:i], usual, 20)),
            "stream, images": lambda: series("I", images, lambda i: bench.stream(scenes[:i])),
            "SPORCO iteration, pixels": lambda: series(
                "N", of([128, 256, 512] + ([1024] if full else [])), lambda n: bench.sporco(root(n))
            ),
            "SBDL turn, pixels": lambda: series(
                "N", of([64, 128, 256] + ([512] if full else [])), lambda n: bench.slices(root(n), 3.0)
            ),
        }
        for name, measure in work.items():
            results.part(name, measure)
    plot(results.kept["parts"], results.file("complexity.png"))


def plot(parts, file):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4.2))
    for name in ("epoch, pixels", "pursuit, pixels", "SPORCO iteration, pixels", "SBDL turn, pixels"):
        part = parts.get(name, {})
        for axis, y, key in ((left, "seconds", "slope_seconds"), (right, "peak_memory_bytes", "slope_memory")):
            points = part.get("points", [])
            axis.plot(
                [p["N"] for p in points],
                [p[y] / (1 if y == "seconds" else 1e6) for p in points],
                "o-",
                markersize=4,
                label=f"{name.split(',')[0]}" + (f", slope {part[key]}" if y == "seconds" and points else ""),
            )
    left.set(xscale="log", yscale="log", xlabel="pixels", ylabel="seconds, one core")
    right.set(xscale="log", yscale="log", xlabel="pixels", ylabel="peak memory of the process, MB")
    for axis in (left, right):
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    main()
