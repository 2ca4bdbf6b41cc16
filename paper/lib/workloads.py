"""The workloads of bench_pursuit.py and bench_epoch.py, and programs pinned to one core."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from lib.common import DATA, ROOT, grey, save_image, without_mean

DICTIONARY = DATA / "dictionaries" / "D_initial_81x8x8.npy"
WORKLOADS = {
    "fruit": ("fruit/*.png", 20.0),
    "barbara-20": ("standard/barbara.png", 20.0),
    "barbara-5": ("standard/barbara.png", 5.0),
    "mosaic-1024": (None, 20.0),
    "mosaic-2048": (None, 20.0),
    "masked": ("standard/barbara.png", 20.0),
}
# The four quarters of mosaic-1024; mosaic-2048 is that one and its mirror images.
MOSAIC = (("barbara", "boat"), ("hill", "man"))
MADE = Path(tempfile.gettempdir()) / "lobcod-bench"


def image_files(workload):
    if not workload.startswith("mosaic"):
        return sorted(DATA.glob(WORKLOADS[workload][0]))
    MADE.mkdir(exist_ok=True)
    mosaic = np.block([[grey(DATA / "standard" / f"{name}.png") for name in row] for row in MOSAIC])
    if workload == "mosaic-2048":
        mosaic = np.pad(mosaic, (0, len(mosaic)), mode="symmetric")
    made, part = MADE / f"{workload}.png", MADE / f"{workload}-{os.getpid()}.png"
    save_image(part, mosaic)
    part.replace(made)  # Another run may be reading it.
    return [made]


def known_pixels(workload, shape):
    """None, or for `masked` which half of the pixels is known."""
    return np.random.default_rng(0).random(shape) < 0.5 if workload == "masked" else None


def input_arguments(workload):
    """What lobcod is given: images less their local mean, or the same numbers and a mask."""
    if workload != "masked":
        return [*image_files(workload), "--base", "local-mean"]
    MADE.mkdir(exist_ok=True)
    signal = load_signals(workload)[0]
    np.save(MADE / "signal.npy", signal)
    np.save(MADE / "known.npy", known_pixels(workload, signal.shape).astype(np.uint8))
    return [MADE / "signal.npy", "--known", MADE / "known.npy", "--base", "none"]


def load_signals(workload):
    """Images (k, h, w) in 0..255 less their local mean."""
    return np.stack([without_mean(grey(path)) for path in image_files(workload)])


def pinned(command, core):
    """Run a command on one core and one thread; the JSON it prints."""
    single = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    done = subprocess.run(
        ["taskset", "-c", str(core), *map(str, command)],
        stdout=subprocess.PIPE,
        check=True,
        env={**os.environ, **single, "PYTHONWARNINGS": "ignore", "PYTHONPATH": str(ROOT / "paper")},
    )
    return json.loads(done.stdout.splitlines()[-1] if command[0] == sys.executable else done.stdout)
