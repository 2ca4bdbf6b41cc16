"""Noise of images: how well it is measured, and what removing it gains, on images whose truth is known.

- impulses: salt and pepper from 0 to 30 % of the pixels (seed 0, half of it black, half white) on pages of text
  (the paper's crop of 240x240) and on photographs; PSNR of the noisy image, of `--noise impulse`, and of `--noise
  impulse:FRACTION` with the fraction of the pixels that changed.
- level: white Gaussian noise on the standard images, neither clipped nor rounded; the estimated level, compared
  with scikit-image's `estimate_sigma` and, with --before BINARY, with another build of lobcod.
- kinds: white, correlated, Poisson and no noise on photographs as 8-bit images, once as JPEG; what `--noise auto`
  finds, its PSNR, and that of `--noise gaussian`.

    pip install numpy pillow scipy scikit-image PyWavelets && cargo build --release
    python paper/noise.py impulses
    python paper/noise.py level
    python paper/noise.py kinds
"""

import argparse
import io
from pathlib import Path

import numpy as np
from PIL import Image
from scipy import ndimage

from lib.common import DATA, Table, grey, middle, psnr
from lib.denoising import denoise
from lib.titles import IMAGES

FRACTIONS = (0, 0.01, 0.03, 0.05, 0.08, 0.1, 0.2, 0.3)
LEVELS = (5, 10, 15, 25, 50)


def standard(name):
    return grey(DATA / "standard" / f"{name}.png")


def show(number):
    return "unchanged" if np.isinf(number) else f"{number:.2f}"


def impulses(pages, photographs, fractions, save):
    columns = ["image", "impulses", "noisy", "found", "`impulse`", "`impulse:FRACTION`"]
    table = Table("denoise-impulses", "Denoising impulses", columns, save)
    images = [(f"page {page}", grey(DATA / f"text/ethics_00{page}.png")[220:460, 90:330]) for page in pages]
    images += [(name.capitalize(), middle(standard(name))) for name in photographs]
    for name, truth in images:
        for fraction in fractions:
            draw = np.random.default_rng(0).random(truth.shape)
            noisy = np.where(draw < fraction / 2, 0, np.where(draw > 1 - fraction / 2, 255, truth))
            clean, report = denoise(noisy, "--noise", "impulse")
            share = (noisy != truth).mean()
            given = show(psnr(denoise(noisy, "--noise", f"impulse:{share}")[0], truth)) if fraction else ""
            before = show(psnr(noisy, truth)) if fraction else ""
            found = f"{100 * report['noise_level']:.1f} %"
            table.add(name, f"{100 * fraction:.0f} %", before, found, show(psnr(clean, truth)), given)
    table.close()


def estimate(noisy, binary):
    return denoise(noisy, "--noise", "gaussian", "--keep-atoms", binary=binary)[1]["noise_level"]


def level(images, levels, before, save):
    from skimage.restoration import estimate_sigma

    programs = ["lobcod", *(["before"] if before else []), "scikit-image"]
    columns = ["image", *(f"{program}, {sigma:g}" for sigma in levels for program in programs)]
    table = Table("denoise-level", "The measured level of white noise", columns, save)
    rows = []
    for name in images:
        row = []
        for sigma in levels:
            truth = standard(name)
            noisy = truth + np.random.default_rng(0).normal(0, sigma, truth.shape)
            row += [estimate(noisy, binary) for binary in ([None, before] if before else [None])] + [
                estimate_sigma(noisy)
            ]
        rows.append(row)
        table.add(name.capitalize(), *(f"{x:.2f}" for x in row))
    bias = np.array(rows) - np.repeat(levels, len(programs))
    for title, values in (("mean bias", bias.mean(0)), ("root mean square error", np.sqrt((bias**2).mean(0)))):
        table.add(title, *(f"{x:.2f}" for x in values))
    table.close()


def jpeg(image, quality):
    file = io.BytesIO()
    Image.fromarray(image.astype(np.uint8)).save(file, "JPEG", quality=quality)
    return np.asarray(Image.open(file)).astype(float)


def noisy_images(truth):
    """The image with each kind of noise."""
    rng = np.random.default_rng(0)

    def whole(image):
        return np.clip(np.round(image), 0, 255)

    def correlated(blur, sigma):
        noise = ndimage.gaussian_filter(rng.normal(size=truth.shape), blur, mode="wrap")
        return truth + sigma / noise.std() * noise

    yield "none", truth
    yield "white, 10", whole(truth + rng.normal(0, 10, truth.shape))
    yield "white, 25", whole(truth + rng.normal(0, 25, truth.shape))
    yield "correlated, 12.4", whole(correlated(0.7, 12.4))
    yield "correlated, 12.4, JPEG 92", jpeg(whole(correlated(0.7, 12.4)), 92)
    yield "correlated, 20", whole(correlated(1, 20))
    yield "Poisson, gain 2", whole(2 * rng.poisson(truth / 2))


def kinds(images, save):
    columns = ["image", "noise", "found", "noisy", "`auto`", "`gaussian`"]
    table = Table("denoise-kinds", "Denoising with the kind of noise detected", columns, save)
    for name in images:
        truth = middle(standard(name))
        for title, noisy in noisy_images(truth):
            clean, report = denoise(noisy, "--noise", "auto")
            plain = psnr(denoise(noisy, "--noise", "gaussian")[0], truth)
            before = "" if title == "none" else show(psnr(noisy, truth))
            table.add(name.capitalize(), title, report["detected"], before, show(psnr(clean, truth)), show(plain))
    table.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", choices=("impulses", "level", "kinds"))
    parser.add_argument("--images", nargs="+", help="standard images by name")
    parser.add_argument("--pages", nargs="*", type=int, default=(25, 33), help="impulses: numbers of the pages")
    parser.add_argument("--fractions", nargs="+", type=float, default=FRACTIONS)
    parser.add_argument("--levels", nargs="+", type=float, default=LEVELS)
    parser.add_argument("--before", type=Path, help="level: another build of lobcod")
    parser.add_argument("--save", action="store_true", help="write the table to paper/results/tables")
    options = parser.parse_args()
    if options.table == "impulses":
        impulses(options.pages, options.images or ("house", "barbara"), options.fractions, options.save)
    elif options.table == "level":
        level(options.images or sorted(IMAGES), options.levels, options.before, options.save)
    else:
        kinds(options.images or ("house", "barbara", "boat"), options.save)


if __name__ == "__main__":
    main()
