"""Pictures of the worst case of each method: docs/images/worst-denoising.jpg and worst-inpainting.jpg.

Every method denoises (Gaussian noise, level 25) and inpaints (scratches, text, half of the pixels) the same freely
licensed photographs of scikit-image. Its worst case is the tile of 96x96 pixels where its PSNR is furthest below that
of the best other method; each row shows one. docs/images/LICENCES.md names the authors.

    pip install -r paper/requirements-tasks.txt opencv-python-headless scikit-image matplotlib && cargo build --release
    python paper/worst_cases.py [denoising|inpainting]
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from denoise_presets import by_preset
from inpainting_peers import by_lobcod, masks, others
from skimage import data

from lib.common import ROOT, middle, psnr

IMAGES = ("camera", "coins", "astronaut", "chelsea", "coffee", "rocket", "brick", "grass", "gravel")
TILE = 96


def photographs():
    for name in IMAGES:
        image = getattr(data, name)().astype(float)
        yield name, np.round(middle(image if image.ndim == 2 else image[..., :3] @ [0.299, 0.587, 0.114], 288))


def denoising():
    """The damaged image and the result of each method, for each photograph."""
    import bm3d

    methods = {f"lobcod {preset}": by_preset(preset) for preset in ("fast", "standard", "best")}
    methods["BM3D"] = lambda noisy, sigma: (bm3d.bm3d(noisy, sigma), 0)
    for name, clean in photographs():
        noisy = clean + np.random.default_rng(0).normal(0, 25, clean.shape)
        yield name, clean, noisy, {title: run(noisy, 25)[0] for title, run in methods.items()}


def inpainting():
    methods = {title: lambda image, known, fill=fill: (fill(image, known), 0) for title, fill in others().items()}
    with tempfile.TemporaryDirectory() as folder:
        for preset in ("fast", "standard", "best"):
            options = argparse.Namespace(extra="")
            methods[f"lobcod {preset}"] = by_lobcod(options, Path(folder), "--preset", preset, "--fill", "model")
        for name, clean in photographs():
            kinds = masks(*clean.shape)
            for kind in ("scratches", "text", "50 % random"):
                known = kinds[kind]
                damaged = np.where(known, clean, 255)
                yield f"{name}, {kind}", clean, damaged, {title: run(clean, known)[0] for title, run in methods.items()}


def worst(cases):
    """For each method: how far it is below the best other one at most, and that tile of all images."""
    found = {}
    for name, clean, damaged, results in cases:
        for top in range(0, clean.shape[0], TILE):
            for left in range(0, clean.shape[1], TILE):
                tile = (slice(top, top + TILE), slice(left, left + TILE))
                scores = {title: psnr(result[tile], clean[tile]) for title, result in results.items()}
                for title, score in scores.items():
                    best = max((other for other in scores if other != title), key=scores.get)
                    below = scores[best] - score
                    if title not in found or below > found[title][0]:
                        panels = [
                            (name, clean[tile]),
                            ("damaged", damaged[tile]),
                            (f"{title}: {score:.2f} dB", results[title][tile]),
                            (f"{best}: {scores[best]:.2f} dB", results[best][tile]),
                        ]
                        found[title] = (below, panels)
    return found


def draw(found, path):
    import matplotlib.pyplot as plt

    figure, rows = plt.subplots(len(found), 4, figsize=(8, 2.2 * len(found)), layout="constrained")
    for row, (title, (below, panels)) in zip(rows, found.items()):
        print(f"{title}: {below:.2f} dB below the best other one, {panels[0][0]}")
        for axes, (caption, tile) in zip(row, panels):
            axes.imshow(np.clip(tile, 0, 255), cmap="gray", vmin=0, vmax=255, interpolation="nearest")
            axes.set_title(caption, fontsize=8)
            axes.set_axis_off()
    figure.savefig(path, dpi=110, pil_kwargs={"quality": 88})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", nargs="?", choices=("denoising", "inpainting"))
    chosen = parser.parse_args().task
    for task in (denoising, inpainting):
        if chosen in (None, task.__name__):
            draw(worst(task()), ROOT / f"docs/images/worst-{task.__name__}.jpg")


if __name__ == "__main__":
    main()
