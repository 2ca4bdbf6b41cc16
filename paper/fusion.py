"""Fusion beside the programs people use, its costs, and the picture of the documentation. (The paper's figures: fusion_figure.py.)

- Real pairs: Q_AB/F, computed here from the definition, of lobcod, of enfuse and of focus-stack where they are installed.
  Pictures and decision maps are written to a folder to look at; they are not part of the repository.
- Costs: wall time, processor seconds, peak memory and PSNR of Barbara, and with --megapixels of a stack of large colour frames.
- The picture of docs/explanation/fusion.md, from the still life that `lobcod demo` draws by formula.

    pip install -r paper/requirements-tasks.txt && cargo build --release
    python paper/fusion.py                      # everything
    python paper/fusion.py --only real --pictures fusion-pictures
    python paper/fusion.py --only costs --megapixels 12 --frames 4

The images are looked for in $LOBCOD_DATA, else in ../shared/data beside the repository.
"""
import argparse
import json
import os
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image
from scipy import ndimage

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("LOBCOD_DATA", ROOT.parent / "shared" / "data"))
BINARY = ROOT / "target" / "release" / "lobcod"
REAL = ("clock", "pepsi", "lab", "plane", "lytro_01", "lytro_06", "lytro_14")


def read(path):
    return np.asarray(Image.open(path)).astype(float)


def blur(picture, side, sigma):
    """The authors' blur: samples of a Gaussian, window i-7..i+8 for 16, zeros outside."""
    x = np.arange(side) - (side - 1) / 2
    bell = np.exp(-x * x / (2 * sigma * sigma))
    kernel = np.outer(bell, bell) / bell.sum() ** 2
    return np.round(ndimage.correlate(picture, kernel, mode="constant", origin=0 if side % 2 else -1))


def splits(height, width):
    y, x = np.mgrid[:height, :width]
    return {"vertical": x < width // 2, "diagonal": x * height + y * width < height * width,
            "disc": (x - width / 2) ** 2 + (y - height / 2) ** 2 < (0.3 * min(height, width)) ** 2}


def psnr(a, b, peak=255.0, inner=np.s_[7:-8, 7:-8]):
    """Without the rim, which the zeros outside darken: the authors' part, rows and columns 8 to 8 before the end, counted from 1."""
    return 10 * np.log10(peak ** 2 / np.mean((a[inner] - b[inner]) ** 2))


def lobcod(folder, frames, *options):
    """Fuse pictures (arrays or files); the report and the written picture."""
    files = []
    for i, frame in enumerate(frames):
        if isinstance(frame, np.ndarray):
            files.append(Path(folder) / f"frame{i}.png")
            Image.fromarray(frame.astype(np.uint8)).save(files[-1])
        else:
            files.append(frame)
    output = Path(folder) / "fused.png"
    done = subprocess.run([BINARY, "fuse", *files, "-o", output, "--json", *map(str, options)], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout), read(output)


def q_abf(sources, fused):
    """Xydeas and Petrovic, from the definition."""
    def edges(picture):
        across = ndimage.correlate(picture, np.outer([1, 2, 1], [-1, 0, 1]).astype(float), mode="nearest")
        down = ndimage.correlate(picture, np.outer([-1, 0, 1], [1, 2, 1]).astype(float), mode="nearest")
        return np.hypot(across, down), np.where(across == 0, np.pi / 2, np.arctan(down / np.where(across == 0, 1, across)))

    strength, direction = edges(fused)
    kept = total = 0
    for g, a in map(edges, sources):
        most = np.maximum(g, strength)
        ratio = np.where(most > 0, np.minimum(g, strength) / np.where(most > 0, most, 1), 0)
        along = 1 - np.abs(a - direction) / (np.pi / 2)
        q = 0.9994 / (1 + np.exp(-15 * (ratio - 0.5))) * 0.9879 / (1 + np.exp(-22 * (along - 0.8)))
        kept, total = kept + (q * g).sum(), total + g.sum()
    return kept / total


def grey(path):
    return np.asarray(Image.open(path).convert("L")).astype(float)


def peers(pair, folder):
    """Pictures of the programs that are installed."""
    made = {}
    if shutil.which("enfuse"):
        made["enfuse"] = folder / "enfuse.png"
        subprocess.run(["enfuse", "--exposure-weight=0", "--saturation-weight=0", "--contrast-weight=1", "--hard-mask",
                        "-o", made["enfuse"], *pair], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    if shutil.which("focus-stack"):
        made["focus-stack"] = folder / "focus-stack.png"
        subprocess.run(["focus-stack", "--no-whitebalance", "--no-contrast", f"--output={made['focus-stack']}", *pair],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return made


def real(pictures):
    print("Q_AB/F            " + "".join(f"{name:>14}" for name in ("lobcod", "--fast", "paper's way", "enfuse", "focus-stack")))
    for name in REAL:
        pair = [DATA / f"fusion/{name}_{side}.png" for side in "AB"]
        folder = pictures / name
        folder.mkdir(parents=True, exist_ok=True)
        window = 16 if name == "plane" else 9
        scores = {}
        for title, options in (("lobcod", ()), ("--fast", ("--fast",)), ("paper's way", ("--compose", "codes", "--activity", "plain"))):
            lobcod(folder, pair, "--window", window, *options, "--decision-map", folder / f"decision-{title.strip('-').split()[0]}.png")
            shutil.move(folder / "fused.png", folder / f"{title.strip('-').split()[0]}.png")
            scores[title] = folder / f"{title.strip('-').split()[0]}.png"
        scores.update(peers(pair, folder))
        sources = [grey(path) for path in pair]
        line = [q_abf(sources, grey(scores[t])) if t in scores else None for t in ("lobcod", "--fast", "paper's way", "enfuse", "focus-stack")]
        print(f"{name:18}" + "".join(f"{'-' if q is None else f'{q:.4f}':>14}" for q in line), flush=True)


def costs(megapixels, count):
    """Seconds, memory and PSNR: Barbara with a disc, and colour frames, each sharp in its share of the width."""
    barbara = np.asarray(Image.open(DATA / "standard/barbara.png").convert("L")).astype(float)
    disc, soft = splits(*barbara.shape)["disc"], blur(barbara, 9, 2)
    stacks = {"two frames, 512x512": (barbara, [np.where(disc, barbara, soft), np.where(disc, soft, barbara)])}
    if megapixels:
        height = int(500 * np.sqrt(3 * megapixels))
        width = height * 4 // 3
        large = np.tile(barbara, (height // 512 + 1, width // 512 + 1))[:height, :width].astype(np.float32)
        faint = ndimage.uniform_filter(large, 9)
        colours = lambda f: np.dstack([f, f // 2 + 60, 255 - f])
        frames = [colours(np.where(np.arange(width) * count // width == i, large, faint).astype(np.uint8)) for i in range(count)]
        stacks[f"{count} colour frames, {width}x{height}"] = (colours(large.astype(np.uint8)), frames)
    for name, (truth, frames) in stacks.items():
        for options in ((), ("--fast",)):
            with tempfile.TemporaryDirectory() as folder:
                before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
                report, fused = lobcod(folder, frames, *options)
                after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - began
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(f"{name} {' '.join(options):7} {wall:8.1f} s, {spent:8.1f} processor seconds, {report['peak_memory_bytes'] / 1e9:.2f} GB, "
                  f"{psnr(fused, truth):.2f} dB", flush=True)


def procedural(file):
    """The picture of the documentation: the still life of `lobcod demo`, near and far parts in focus, fused, and the decision."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        subprocess.run([BINARY, "demo", "-o", folder / "demo", "--quiet"], check=True)
        scene = read(folder / "demo" / "original.png")
        y, x = np.mgrid[:256, :256] / 256
        near = (np.hypot(x - 0.74, y - 0.69) < 0.13) | (y > 0.64 + 0.012 * np.sin(9 * x))
        soft = ndimage.gaussian_filter(scene, (2.5, 2.5, 0), mode="nearest")
        pair = [np.where((near == side)[..., None], scene, soft) for side in (True, False)]
        _, fused = lobcod(folder, pair, "--decision-map", folder / "decision.png")
        decision = np.repeat(read(folder / "decision.png")[..., None], 3, axis=2)
        Image.fromarray(np.hstack([*pair, fused, decision]).astype(np.uint8)).save(file, optimize=True)
        print(f"{file}: {psnr(fused, scene):.2f} dB; a decision other than the truth in {np.mean((decision[..., 0] > 0) == near):.1%} of the pixels")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("real", "costs", "procedural"))
    parser.add_argument("--megapixels", type=float, help="costs: a stack of colour frames of this size as well")
    parser.add_argument("--frames", type=int, default=4, help="costs: frames in that stack")
    parser.add_argument("--strip", type=Path, default=ROOT / "docs" / "fusion.png", help="procedural: picture to write")
    parser.add_argument("--pictures", type=Path, default=ROOT / "fusion-pictures", help="folder for the fused real pairs")
    options = parser.parse_args()
    if options.only in (None, "real"):
        real(options.pictures)
    if options.only in (None, "costs"):
        costs(options.megapixels, options.frames)
    if options.only in (None, "procedural"):
        procedural(options.strip)
