"""Noise of images: how well it is measured, and what removing it gains, on images whose truth is known.

- impulses: salt and pepper from 0 to 30 % of the pixels (seed 0, half of it black, half white) on pages of text (the paper's
  crop of 240x240) and on photographs; PSNR of the noisy image, of `--noise impulse`, and of `--noise impulse:FRACTION`.
- level: white Gaussian noise on the standard images, neither clipped nor rounded; the estimated level, compared with
  scikit-image's `estimate_sigma` and, with --before BINARY, with another build of lobcod.
- kinds: white, correlated, Poisson and no noise on photographs as 8-bit images, once as JPEG; what `--noise auto` finds, its
  PSNR, and that of `--noise gaussian`.

    pip install numpy pillow scipy scikit-image PyWavelets && cargo build --release
    python paper/noise.py impulses
    python paper/noise.py level
    python paper/noise.py kinds

The images are read from $LOBCOD_DATA, or from ../shared/data next to the repository; the program is $LOBCOD_BINARY or
target/release/lobcod.
"""
import argparse
import io
import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from scipy import ndimage

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("LOBCOD_DATA", ROOT.parent / "shared" / "data"))
BINARY = Path(os.environ.get("LOBCOD_BINARY", ROOT / "target" / "release" / "lobcod"))
STANDARD = ("barbara", "boat", "cameraman", "couple", "fingerprint", "hill", "house", "lena", "man", "montage", "peppers")
FRACTIONS = (0, 0.01, 0.03, 0.05, 0.08, 0.1, 0.2, 0.3)
LEVELS = (5, 10, 15, 25, 50)


def psnr(a, b):
    error = np.mean((np.asarray(a, float) - b) ** 2)
    return np.inf if error == 0 else 10 * np.log10(255 ** 2 / error)


def grey(path):
    return np.asarray(Image.open(path).convert("L")).astype(float)


def standard(name):
    return grey(DATA / "standard" / f"{name}.png")


def middle(image, side=256):
    y, x = ((n - side) // 2 for n in image.shape)
    return image[y:y + side, x:x + side]


def denoise(noisy, *options, binary=BINARY):
    """The denoised image and the report."""
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "noisy.npy", Path(folder) / "clean.npy"
        np.save(source, noisy.astype(np.float32))
        done = subprocess.run([binary, "denoise", source, "-o", output, "--json", "--quiet", *options],
                              stdout=subprocess.PIPE, check=True)
        return np.load(output), json.loads(done.stdout)


def show(number):
    return "unchanged" if np.isinf(number) else f"{number:.2f}"


def impulses(pages, photographs, fractions):
    print("| image | impulses | noisy | found | `impulse` | `impulse:FRACTION` |\n|---|---|---|---|---|---|")
    images = [(f"page {page}", grey(DATA / f"text/ethics_00{page}.png")[220:460, 90:330]) for page in pages]
    images += [(name.capitalize(), middle(standard(name))) for name in photographs]
    for name, truth in images:
        for fraction in fractions:
            draw = np.random.default_rng(0).random(truth.shape)
            noisy = np.where(draw < fraction / 2, 0, np.where(draw > 1 - fraction / 2, 255, truth))
            clean, report = denoise(noisy, "--noise", "impulse")
            given = show(psnr(denoise(noisy, "--noise", f"impulse:{fraction}")[0], truth)) if fraction else ""
            print(f"| {name} | {100 * fraction:.0f} % | {'' if not fraction else show(psnr(noisy, truth))} "
                  f"| {100 * report['noise_level']:.1f} % | {show(psnr(clean, truth))} | {given} |", flush=True)


def estimate(noisy, binary):
    return denoise(noisy, "--noise", "gaussian", "--keep-atoms", binary=binary)[1]["noise_level"]


def level(images, levels, before):
    from skimage.restoration import estimate_sigma
    columns = ["lobcod", *(["before"] if before else []), "scikit-image"]
    print(f"| image | {' | '.join(f'{c}, {s}' for s in levels for c in columns)} |")
    print("|---|" + "---|" * (len(columns) * len(levels)))
    rows = []
    for name in images:
        row = []
        for sigma in levels:
            truth = standard(name)
            noisy = truth + np.random.default_rng(0).normal(0, sigma, truth.shape)
            row += [estimate(noisy, binary) for binary in (BINARY, before) if binary] + [estimate_sigma(noisy)]
        rows.append(row)
        print(f"| {name.capitalize()} | " + " | ".join(f"{x:.2f}" for x in row) + " |", flush=True)
    bias = np.array(rows) - np.repeat(levels, len(columns))
    for title, values in (("mean bias", bias.mean(0)), ("root mean square error", np.sqrt((bias ** 2).mean(0)))):
        print(f"| {title} | " + " | ".join(f"{x:.2f}" for x in values) + " |")


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


def kinds(images):
    print("| image | noise | found | noisy | `auto` | `gaussian` |\n|---|---|---|---|---|---|")
    for name in images:
        truth = middle(standard(name))
        for title, noisy in noisy_images(truth):
            clean, report = denoise(noisy, "--noise", "auto")
            plain = psnr(denoise(noisy, "--noise", "gaussian")[0], truth)
            print(f"| {name.capitalize()} | {title} | {report['detected']} "
                  f"| {'' if title == 'none' else show(psnr(noisy, truth))} | {show(psnr(clean, truth))} | {show(plain)} |",
                  flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", choices=("impulses", "level", "kinds"))
    parser.add_argument("--images", nargs="+", help="standard images by name")
    parser.add_argument("--pages", nargs="*", type=int, default=(25, 33), help="impulses: numbers of the pages")
    parser.add_argument("--fractions", nargs="+", type=float, default=FRACTIONS)
    parser.add_argument("--levels", nargs="+", type=float, default=LEVELS)
    parser.add_argument("--before", type=Path, help="level: another build of lobcod")
    options = parser.parse_args()
    if options.table == "impulses":
        impulses(options.pages, options.images or ("house", "barbara"), options.fractions)
    elif options.table == "level":
        level(options.images or STANDARD, options.levels, options.before)
    else:
        kinds(options.images or ("house", "barbara", "boat"))
