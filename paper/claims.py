"""The claims of the paper's section V, measured: parallel, online, free of parameters, adaptive local complexity.
(Memory: complexity.py.)

All on synthetic images.
- parallel: one thread against two on an image of 1024x1024, all of it textured, and with its left half flat, so
  that the work is uneven; and whether the codes are the same to the last bit.
- online, one image: Algorithm 2 on a single image; objective after 1, 2, 4 epochs of it (64 steps each).
- online, changing stream: `lobcod learn --stream` sees 12 images with stripes of one direction, then images of
  another; objectives on unseen images of both kinds after every few of them.
- free of parameters: the same problem in other units; SPORCO's ADMM with its penalty parameter rho off by powers of
  ten, on the same problem (periodic border), and lobcod, which has none; Algorithm 2 with its one step size over a
  factor of eight.
- adaptive: a cap of one code a needle on one half of the image, none on the other.

    python paper/claims.py [--quick|--full]
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from lib import synthetic
from lib.common import SYNTHETIC, Judge, Results, first_atoms, lobcod, parse, run, without_mean, write_signals
from lib.pursuit_peers import OVERHANG
from lib.synthetic import mosaic, waves

STRIPES = 12


def striped(direction, seed, side=96):
    """Stripes of nearly one direction, rates and positions at random."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:side, :side]
    image = np.zeros((side, side))
    for _ in range(6):
        turn = direction + rng.normal(0, 0.12)
        window = np.exp(
            -((x - rng.uniform(0, side)) ** 2 + (y - rng.uniform(0, side)) ** 2) / (2 * rng.uniform(12, 30) ** 2)
        )
        image += (
            60
            * window
            * np.sin(2 * np.pi / rng.uniform(4, 8) * (np.cos(turn) * x + np.sin(turn) * y) + rng.uniform(0, 6))
        )
    return image + rng.normal(0, 2, image.shape)


class Claims:
    def __init__(self, folder, full):
        self.folder, self.full = Path(folder), full
        np.save(self.folder / "first.npy", first_atoms())
        np.save(self.folder / "waves.npy", waves(81, 8))

    def file(self, name, array):
        np.save(self.folder / name, array)
        return self.folder / name

    def encode(self, image, penalty, *words, threads=1):
        path = self.file("image.npy", image.astype(np.float32))
        codes = self.folder / f"codes{threads}.npz"
        report = lobcod(
            "encode",
            path,
            "-o",
            codes,
            "--dictionary",
            self.folder / "waves.npy",
            "--penalty",
            penalty,
            *words,
            threads=threads,
        )
        return report, codes

    def parallel(self):
        answer = {}
        even = mosaic(2048 if self.full else 1024)
        uneven = even.copy()
        uneven[:, : len(even) // 2] = 128
        for name, image in (("even", even), ("uneven", uneven)):
            seconds = {1: [], 2: []}
            for _ in range(3):
                for threads, times in seconds.items():
                    report, codes = self.encode(image, 20, threads=threads)
                    times.append(report["seconds"])
            one, two = (np.load(self.folder / f"codes{threads}.npz") for threads in (1, 2))
            middle = {threads: statistics.median(times) for threads, times in seconds.items()}
            answer[name] = {
                "seconds": middle,
                "ratio": round(middle[1] / middle[2], 2),
                "same_bits": all(np.array_equal(one[key], two[key]) for key in ("position", "atom", "value")),
            }
        return answer

    def one_image(self):
        signal = without_mean(mosaic(256))
        judge = Judge([signal], 20.0, self.folder)
        files = write_signals([signal], self.folder, "single")
        points = [{"epochs": 0, "objective": judge(first_atoms())}]
        for epochs in (1, 2, 4, 8):
            output = self.folder / "learnt.npz"
            report = lobcod(
                "learn",
                *files,
                "-o",
                output,
                "--init",
                self.folder / "first.npy",
                "--penalty",
                20,
                "--base",
                "none",
                "--method",
                "stochastic",
                "--passes",
                epochs,
            )
            points.append(
                {
                    "epochs": epochs,
                    "seconds": report["history"][-1]["seconds"],
                    "objective": judge(np.load(output)["atoms"]),
                }
            )
        return {"points": points}

    def changing_stream(self):
        first, then = 0.3, 0.3 + np.pi / 2
        seen = [striped(first, seed) for seed in range(STRIPES)] + [
            striped(then, seed) for seed in range(100, 100 + STRIPES)
        ]
        files = write_signals(seen, self.folder, "stream")
        judges = {}
        for name, direction in (("first kind", first), ("second kind", then)):
            place = self.folder / name.replace(" ", "-")
            place.mkdir(exist_ok=True)
            judges[name] = Judge([striped(direction, seed) for seed in range(1000, 1004)], 20.0, place)
        points = []
        for count in (1, 4, STRIPES, STRIPES + 1, STRIPES + 2, STRIPES + 4, 2 * STRIPES):
            output = self.folder / "learnt.npz"
            lobcod(
                "learn",
                *files[:count],
                "--stream",
                "-o",
                output,
                "--init",
                self.folder / "first.npy",
                "--penalty",
                20,
                "--base",
                "none",
            )
            atoms = np.load(output)["atoms"]
            points.append({"seen": count, **{name: judge(atoms) for name, judge in judges.items()}})
        return {"points": points, "switch_after": STRIPES}

    def units(self):
        image = mosaic(256)
        rows = []
        for scale in (1.0, 1 / 255, 1000.0):
            report, _ = self.encode(image * scale, 20 * scale)
            rows.append(
                {
                    "scale": scale,
                    "objective_over_scale_squared": report["objective"] / scale**2,
                    "status": report["status"],
                    "sweeps": report["discovery_sweeps"] + report["support_sweeps"],
                    "seconds": report["seconds"],
                }
            )
        return {"points": rows}

    def rho(self):
        """What of the optimum is missing after the same seconds, for ADMM with other penalty parameters."""
        signal = without_mean(mosaic(128))
        report, _ = self.encode(
            signal, 20, "--base", "none", "--border", "periodic", "--tolerance", 1e-5, "--precision", "f64"
        )
        usual, _ = self.encode(signal, 20, "--base", "none", "--border", "periodic")
        rows = []
        for rho in (0.05, 0.5, 5.0, 50.0, 500.0):
            output, *_ = run([sys.executable, __file__, "--rho", rho], 300)
            end = json.loads(output.splitlines()[-1])
            rows.append(
                {"rho": rho, "seconds": end["seconds"], "above_optimum": end["objective"] / report["objective"] - 1}
            )
        ours = {"seconds": usual["seconds"], "above_optimum": usual["objective"] / report["objective"] - 1}
        return {"sporco": rows, "lobcod": ours}

    def step_size(self):
        signals = [without_mean(synthetic.scene(100, 100, seed)) for seed in range(4)]
        judge, files = Judge(signals, 20.0, self.folder), write_signals(signals, self.folder, "steps")
        rows = []
        for size in (0.005, 0.01, 0.02, 0.04):
            output = self.folder / "learnt.npz"
            lobcod(
                "learn",
                *files,
                "-o",
                output,
                "--init",
                self.folder / "first.npy",
                "--penalty",
                20,
                "--base",
                "none",
                "--method",
                "stochastic",
                "--step",
                "sgd",
                "--step-size",
                size,
                "--passes",
                15,
            )
            rows.append({"step_size": size, "objective": judge(np.load(output)["atoms"])})
        return {"points": rows, "start": judge(first_atoms())}

    def adaptive(self):
        image, half = mosaic(256), 128
        caps = np.zeros((256 + OVERHANG, 256 + OVERHANG), np.float32) + 64
        caps[:, : half + OVERHANG] = 1
        ways = {
            "free": (),
            "one code a needle, left half": ("--max-nonzeros", self.file("caps.npy", caps)),
            "one code a needle, everywhere": ("--max-nonzeros", 1),
        }
        answer = {}
        for name, words in ways.items():
            report, codes = self.encode(image, 5, *words)
            answer[name] = {**self.halves(codes, half), "seconds": report["seconds"], "objective": report["objective"]}
        return answer

    def halves(self, codes, half):
        """Codes and the most of a needle, by half."""
        position = np.load(codes)["position"]
        left = position[:, 1] < half
        most = lambda part: int(np.unique(part, axis=0, return_counts=True)[1].max(initial=0))
        return {
            "codes_left": int(left.sum()),
            "codes_right": int((~left).sum()),
            "most_left": most(position[left]),
            "most_right": most(position[~left]),
        }


def sporco_process(rho, iterations=100):
    """Objective (periodic border, recomputed from the maps) and processor time after the iterations."""
    import sporco.fft
    from sporco.admm.cbpdn import ConvBPDN

    sporco.fft.pyfftw_threads = 1
    signal, atoms = without_mean(mosaic(128)) / 255, waves(81, 8)
    settings = {
        "rho": rho,
        "RelaxParam": 1.8,
        "AutoRho": {"Enabled": False},
        "FastSolve": True,
        "DataType": np.float32,
        "RelStopTol": 0.0,
        "MaxMainIter": iterations,
    }
    began = time.process_time()
    solver = ConvBPDN(
        np.moveaxis(atoms, 0, -1).astype(np.float32), signal.astype(np.float32), 20 / 255, ConvBPDN.Options(settings)
    )
    maps = np.moveaxis(np.asarray(solver.solve()).squeeze(), -1, 0).astype(np.float64)
    seconds = time.process_time() - began
    box = np.zeros((81, *signal.shape))
    box[:, :8, :8] = atoms
    synthesis = np.fft.irfft2((np.fft.rfft2(maps) * np.fft.rfft2(box)).sum(0), signal.shape)
    objective = 0.5 * np.sum((signal - synthesis) ** 2) + 20 / 255 * np.abs(maps).sum()
    print(json.dumps({"seconds": seconds, "objective": objective * 255**2}))


def main():
    options = parse(__doc__, **{"--rho": {"type": float, "help": argparse.SUPPRESS}})
    if options.rho:
        return sporco_process(options.rho)
    results = Results("claims", options, SYNTHETIC)
    with tempfile.TemporaryDirectory() as folder:
        claims = Claims(folder, options.size == "full")
        for name in ("parallel", "one_image", "changing_stream", "units", "rho", "step_size", "adaptive"):
            results.part(name, getattr(claims, name))


if __name__ == "__main__":
    main()
