"""Fusion of real pairs compared with other programs, and its costs. (The paper's figures: fusion_figure.py.)

- real: Q_AB/F, computed here from the definition, of lobcod, and of enfuse and focus-stack where they are
  installed. The fused images and decision maps are written to a folder; they are not part of the repository.
- costs: wall time, processor seconds, peak memory and PSNR of Barbara, and with --megapixels of a stack of large
  colour frames.

    pip install -r paper/requirements-tasks.txt && cargo build --release
    python paper/fusion.py                      # everything
    python paper/fusion.py --only real --images fusion-images
    python paper/fusion.py --only costs --megapixels 12 --frames 4
"""

import argparse
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import ndimage

from lib.common import DATA, ROOT, Table, grey
from lib.fusing import blur, fuse, score, splits

REAL = ("clock", "pepsi", "lab", "plane", "lytro_01", "lytro_06", "lytro_14")
WAYS = {
    "lobcod": (),
    "`--fast`": ("--fast",),
    "`--compose codes --activity plain`": ("--compose", "codes", "--activity", "plain"),
}
PEERS = ("enfuse", "focus-stack")


def q_abf(sources, fused):
    """Xydeas and Petrovic, from the definition."""

    def edges(image):
        across = ndimage.correlate(image, np.outer([1, 2, 1], [-1, 0, 1]).astype(float), mode="nearest")
        down = ndimage.correlate(image, np.outer([-1, 0, 1], [1, 2, 1]).astype(float), mode="nearest")
        return np.hypot(across, down), np.where(
            across == 0, np.pi / 2, np.arctan(down / np.where(across == 0, 1, across))
        )

    strength, direction = edges(fused)
    kept = total = 0
    for g, a in map(edges, sources):
        most = np.maximum(g, strength)
        ratio = np.where(most > 0, np.minimum(g, strength) / np.where(most > 0, most, 1), 0)
        along = 1 - np.abs(a - direction) / (np.pi / 2)
        q = 0.9994 / (1 + np.exp(-15 * (ratio - 0.5))) * 0.9879 / (1 + np.exp(-22 * (along - 0.8)))
        kept, total = kept + (q * g).sum(), total + g.sum()
    return kept / total


def peers(pair, folder):
    """Images of the programs that are installed."""
    made = {}
    if shutil.which("enfuse"):
        made["enfuse"] = folder / "enfuse.png"
        subprocess.run(
            [
                "enfuse",
                "--exposure-weight=0",
                "--saturation-weight=0",
                "--contrast-weight=1",
                "--hard-mask",
                "-o",
                made["enfuse"],
                *pair,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
    if shutil.which("focus-stack"):
        made["focus-stack"] = folder / "focus-stack.png"
        subprocess.run(
            ["focus-stack", "--no-whitebalance", "--no-contrast", f"--output={made['focus-stack']}", *pair],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
    return made


def real(images, save):
    table = Table("fusion-real", "Fusion of real pairs: Q_AB/F", ["pair", *WAYS, *PEERS], save)
    for name in REAL:
        pair = [DATA / f"fusion/{name}_{side}.png" for side in "AB"]
        folder = images / name
        folder.mkdir(parents=True, exist_ok=True)
        window = 16 if name == "plane" else 9
        made = {}
        for number, (way, options) in enumerate(WAYS.items()):
            options = ("--window", window, "--align", "none", *options)
            fuse(folder, pair, *options, "--decision-map", folder / f"decision-{number}.png")
            made[way] = shutil.move(folder / "fused.png", folder / f"lobcod-{number}.png")
        made.update(peers(pair, folder))
        sources = [grey(path) for path in pair]
        table.add(name, *(f"{q_abf(sources, grey(made[way])):.4f}" if way in made else "-" for way in (*WAYS, *PEERS)))
    table.close()


def costs(megapixels, count, save):
    """Seconds, memory and PSNR: Barbara with a disc, and colour frames, each sharp in its part of the width."""
    barbara = grey(DATA / "standard/barbara.png")
    disc, soft = splits(*barbara.shape)["disc"], blur(barbara, 9, 2)
    stacks = {"two grey frames of 512x512": (barbara, [np.where(disc, barbara, soft), np.where(disc, soft, barbara)])}
    if megapixels:
        height = int(500 * np.sqrt(3 * megapixels))
        width = height * 4 // 3
        large = np.tile(barbara, (height // 512 + 1, width // 512 + 1))[:height, :width].astype(np.float32)
        faint = ndimage.uniform_filter(large, 9)
        colours = lambda f: np.dstack([f, f // 2 + 60, 255 - f])
        frames = [
            colours(np.where(np.arange(width) * count // width == i, large, faint).astype(np.uint8))
            for i in range(count)
        ]
        stacks[f"{count} colour frames of {megapixels:g} megapixels"] = (colours(large.astype(np.uint8)), frames)
    table = Table(
        "fusion-costs",
        "Time and memory of fusion",
        ["stack", "wall time", "processor seconds", "peak memory", "PSNR"],
        save,
    )
    for name, (truth, frames) in stacks.items():
        for options in ((), ("--fast",)):
            with tempfile.TemporaryDirectory() as folder:
                before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
                report, fused = fuse(folder, frames, *options)
                after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - began
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            memory = f"{report['peak_memory_bytes'] / 1e9:.2f} GB"
            way = f"{name}, `--fast`" if options else name
            table.add(way, f"{wall:.1f} s", f"{spent:.1f}", memory, f"{score(fused, truth):.2f} dB")
    table.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("real", "costs"))
    parser.add_argument("--megapixels", type=float, help="costs: a stack of colour frames of this size as well")
    parser.add_argument("--frames", type=int, default=4, help="costs: frames in that stack")
    parser.add_argument("--images", type=Path, default=ROOT / "fusion-images", help="folder for the fused real pairs")
    parser.add_argument("--save", action="store_true", help="write the tables to paper/results/tables")
    options = parser.parse_args()
    if options.only in (None, "real"):
        real(options.images, options.save)
    if options.only in (None, "costs"):
        costs(options.megapixels, options.frames, options.save)


if __name__ == "__main__":
    main()
