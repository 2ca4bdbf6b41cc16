"""Halos of focus stacking: the error along depth edges, of lobcod and of enfuse.

A stack of two frames shows a foreground (one photograph, cut out by a shape) before a background (another). The lens
is focused on the one or the other. What is out of focus is the mean over a disc, so a blurred foreground spreads over
the background and lets it shine through. The truth is the same scene with everything in focus. No fusion can reach it:
next to the edge, the background is never both sharp and uncovered.

    pip install -r paper/requirements-tasks.txt && cargo build --release
    python paper/fusion_halos.py [--images halo-images] [--save]

Prints the PSNR in a band of `2 r` pixels outside the edge, in the same band inside, and everywhere, as `lobcod |
enfuse | best`. `best` takes, in every pixel, the frame that is closer to the truth.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from scipy import ndimage, signal

from lib.common import DATA, Table, psnr, read, save_image
from lib.fusing import fuse

SIZE = 320
RADII = (3, 6, 10)
BANDS = ("outside", "inside", "everywhere")
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
        return read(DATA / f"color/{file}.png")[64 : 64 + SIZE, 96 : 96 + SIZE]

    front, back = light * photo(front), photo(back)
    if name == "smooth":
        front = disc(front, 6)
    cover = shape(name)
    a = cover[..., None]
    soft = disc(cover, radius)[..., None]
    near = front * a + (1 - a) * disc(back, radius)
    far = disc(front * a, radius) + (1 - soft) * back
    return [np.round(np.clip(frame, 0, 255)) for frame in (near, far)], front * a + (1 - a) * back, cover


def fused(folder, frames):
    """The image of each program."""
    _, ours = fuse(folder, frames)
    peer = folder / "enfuse.png"
    weights = ["--exposure-weight=0", "--saturation-weight=0", "--contrast-weight=1", "--hard-mask"]
    files = [folder / f"frame{i}.png" for i in range(len(frames))]
    subprocess.run(["enfuse", *weights, "-o", peer, *files], capture_output=True, check=True)
    return {"lobcod": ours, "enfuse": read(peer)[..., :3]}


def bands(cover, radius):
    outside = ndimage.distance_transform_edt(cover < 0.5)
    inside = ndimage.distance_transform_edt(cover >= 0.5)
    return {
        "outside": (outside > 0) & (outside <= 2 * radius),
        "inside": (inside > 0) & (inside <= 2 * radius),
        "everywhere": np.ones_like(cover, bool),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=Path, help="folder for the frames and the results")
    parser.add_argument("--save", action="store_true", help="write the table to results/tables")
    options = parser.parse_args()
    title = "PSNR in dB next to depth edges: lobcod, enfuse, the better frame in every pixel"
    columns = ["scene", "r", *(f"{band}: {name}" for band in BANDS for name in ("lobcod", "enfuse", "best"))]
    table = Table("fusion-halos", title, columns, options.save)
    with tempfile.TemporaryDirectory() as scratch:
        for name in SCENES:
            for radius in RADII:
                place = (options.images or Path(scratch)) / f"{name}-{radius}"
                place.mkdir(parents=True, exist_ok=True)
                frames, truth, cover = stack(name, radius)
                error = [np.abs(f - truth).sum(2, keepdims=True) for f in frames]
                images = fused(place, frames) | {"best": np.where(error[0] <= error[1], *frames)}
                save_image(place / "truth.png", truth)
                where = bands(cover, radius)
                scores = (psnr(image[where[band]], truth[where[band]]) for band in BANDS for image in images.values())
                table.add(name, radius, *(f"{score:.2f}" for score in scores))
    table.close()


if __name__ == "__main__":
    main()
