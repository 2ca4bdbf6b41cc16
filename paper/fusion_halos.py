"""Halos of focus stacking: the error along depth edges, of lobcod and of enfuse.

A stack of two frames shows a foreground (one photograph, cut out by a shape) before a background (another). The lens
is focused on the one or the other. What is out of focus is the mean over a disc, so a blurred foreground spreads over
the background and lets it shine through. The truth is the same scene with everything in focus. No fusion can reach it:
next to the edge, the background is never both sharp and uncovered.

    pip install -r paper/requirements-tasks.txt && cargo build --release
    python paper/fusion_halos.py [--images halo-images]

Prints the PSNR in a band of `2 r` pixels outside the edge, in the same band inside, and everywhere. `best` takes, in
every pixel, the frame that is closer to the truth. The images are looked for in $LOBCOD_DATA, else in ../shared/data
next to the repository.
"""

import argparse
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from scipy import ndimage, signal

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("LOBCOD_DATA", ROOT.parent / "shared" / "data"))
BINARY = Path(os.environ.get("LOBCOD", ROOT / "target" / "release" / "lobcod"))
SIZE = 320
# Foreground, background, brightness of the foreground.
SCENES = {
    "leaf": ("kodim08", "kodim13", 0.55),
    "rim": ("kodim23", "kodim19", 0.5),
    "bars": ("kodim05", "kodim24", 1.0),
    "smooth": ("kodim23", "kodim24", 0.35),
}


def shape(name):
    """Coverage of the foreground, antialiased."""
    n = 4 * SIZE
    y, x = (np.mgrid[:n, :n] + 0.5) / n
    angle, distance = np.arctan2(y - 0.5, x - 0.5), np.hypot(y - 0.5, x - 0.5)
    inside = {
        "leaf": distance < 0.27 + 0.05 * np.sin(5 * angle) + 0.015 * np.sin(17 * angle),
        "rim": x + 0.04 * np.sin(9 * y) < 0.48,
        "bars": (np.sin(2 * np.pi * (3 * x + 0.6 * y)) > 0.55),
        "smooth": (abs(x - 0.5) < 0.2) & (abs(y - 0.55) < 0.3),
    }[name]
    return inside.reshape(SIZE, 4, SIZE, 4).mean((1, 3))


def disc(image, radius):
    reach = int(np.ceil(radius))
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    kernel = np.clip(radius + 0.5 - np.hypot(y, x), 0, 1)
    kernel /= kernel.sum()
    padded = np.pad(image, [(reach, reach), (reach, reach)] + [(0, 0)] * (image.ndim - 2), mode="reflect")
    planes = padded[..., None] if image.ndim == 2 else padded
    out = np.stack([signal.fftconvolve(planes[..., c], kernel, mode="valid") for c in range(planes.shape[2])], 2)
    return out[..., 0] if image.ndim == 2 else out


def stack(name, radius):
    """The frames, the truth, and the coverage of the foreground."""
    front, back, light = SCENES[name]

    def photo(file):
        pixels = np.asarray(Image.open(DATA / f"color/{file}.png").convert("RGB"))
        return pixels[64 : 64 + SIZE, 96 : 96 + SIZE].astype(float)

    front, back = light * photo(front), photo(back)
    if name == "smooth":
        front = disc(front, 6)
    cover = shape(name)
    a = cover[..., None]
    soft = disc(cover, radius)[..., None]
    near = front * a + (1 - a) * disc(back, radius)
    far = disc(front * a, radius) + (1 - soft) * back
    return [np.round(np.clip(frame, 0, 255)) for frame in (near, far)], front * a + (1 - a) * back, cover


def save(path, image):
    Image.fromarray(np.clip(np.round(image), 0, 255).astype(np.uint8)).save(path)


def fused(folder, frames):
    files = [folder / f"{name}.png" for name in ("near", "far")]
    for file, frame in zip(files, frames):
        save(file, frame)
    outputs = {"lobcod": folder / "lobcod.png", "enfuse": folder / "enfuse.png"}
    subprocess.run([BINARY, "fuse", *files, "-o", outputs["lobcod"], "--quiet"], check=True)
    weights = ["--exposure-weight=0", "--saturation-weight=0", "--contrast-weight=1", "--hard-mask"]
    subprocess.run(["enfuse", *weights, "-o", outputs["enfuse"], *files], capture_output=True, check=True)
    return {name: np.asarray(Image.open(path).convert("RGB")).astype(float) for name, path in outputs.items()}


def bands(cover, radius):
    outside = ndimage.distance_transform_edt(cover < 0.5)
    inside = ndimage.distance_transform_edt(cover >= 0.5)
    return {
        "outside": (outside > 0) & (outside <= 2 * radius),
        "inside": (inside > 0) & (inside <= 2 * radius),
        "everywhere": np.ones_like(cover, bool),
    }


def psnr(image, truth, where):
    return 10 * np.log10(255**2 / np.mean((image - truth)[where] ** 2))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=Path, help="folder for the frames and the results")
    folder = parser.parse_args().images
    with tempfile.TemporaryDirectory() as scratch:
        heads = [f"{band}: lobcod | enfuse | best" for band in ("outside", "inside", "everywhere")]
        print("| scene, r | " + " | ".join(heads) + " |\n|---|" + 9 * "---|")
        for name in SCENES:
            for radius in (3, 6, 10):
                place = (folder or Path(scratch)) / f"{name}-{radius}"
                place.mkdir(parents=True, exist_ok=True)
                frames, truth, cover = stack(name, radius)
                error = [np.abs(f - truth).sum(2, keepdims=True) for f in frames]
                images = fused(place, frames) | {"best": np.where(error[0] <= error[1], *frames)}
                save(place / "truth.png", truth)
                scores = [
                    psnr(image, truth, band) for band in bands(cover, radius).values() for image in images.values()
                ]
                print(f"| {name}, {radius} | " + " | ".join(f"{score:.2f}" for score in scores) + " |", flush=True)


if __name__ == "__main__":
    main()
