"""The presets of `lobcod denoise` compared with BM3D and BM4D from PyPI, in one run: PSNR, SSIM and CPU time.

- Grey: Gaussian noise of level 15, 25 and 50 on the middle 256x256 of the standard images (seed 0, not clipped, not
  rounded); `bm3d.bm3d`.
- Colour: the same on Kodak 19, 23 and 24; `bm3d.bm3d_rgb`.
- Stacks: 24 slices of 96x96: blurred ellipsoids, filaments, and a moving crop of House; `bm3d.bm3d` slice by slice
  and `bm4d.bm4d`.

Nothing was tuned on these images. CPU time is that of the process, with the start of the program.

    pip install -r paper/requirements-tasks.txt bm3d bm4d && cargo build --release
    python paper/denoise_presets.py --save
    python paper/denoise_presets.py --only colour --levels 25
"""

import argparse
import resource
import time

import numpy as np
from scipy import ndimage
from skimage.metrics import structural_similarity

from lib.common import DATA, Table, grey, middle, psnr, read
from lib.denoising import denoise
from lib.titles import IMAGES

PRESETS = ("fast", "standard", "best")


def children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def by_preset(preset, options=()):
    def run(noisy, sigma):
        before = children()
        clean, _ = denoise(noisy, "--noise", f"gaussian:{sigma}", "--preset", preset, *options)
        return clean, children() - before

    return run


def peer(work):
    def run(noisy, sigma):
        before = time.process_time()
        return work(noisy, sigma), time.process_time() - before

    return run


def similarity(image, clean):
    channel_axis = -1 if clean.shape[-1] == 3 else None
    return structural_similarity(image, clean, data_range=255, channel_axis=channel_axis)


def compare(table, methods, subjects, levels):
    """Adds a row for each subject and level, and the means."""
    for sigma in levels:
        scores = []
        for name, clean in subjects:
            noisy = clean + np.random.default_rng(0).normal(0, sigma, clean.shape)
            row = []
            for run in methods:
                image, seconds = run(noisy, sigma)
                row.append((psnr(image, clean), similarity(image.astype(float), clean), seconds))
            scores.append(row)
            table.add(name, sigma, *(f"{quality:.2f}, {alike:.3f}" for quality, alike, _ in row))
        means = np.mean(scores, axis=0)
        table.add("mean", sigma, *(f"{quality:.2f}, {alike:.3f}" for quality, alike, _ in means))
        table.add("CPU time", sigma, *(f"{seconds:.1f} s" for _, _, seconds in means))
    table.close()


def greyscale(images, levels, save):
    import bm3d

    table = Table("denoise-presets", "Presets of denoising", ["image", "sigma", *words(PRESETS), "BM3D"], save)
    subjects = [(name.capitalize(), middle(grey(DATA / f"standard/{name}.png"))) for name in images]
    compare(table, [*map(by_preset, PRESETS), peer(bm3d.bm3d)], subjects, levels)


def colour(levels, save):
    import bm3d

    table = Table("denoise-colour", "Denoising of colour", ["image", "sigma", *words(PRESETS), "CBM3D"], save)
    subjects = [(f"Kodak {n}", middle(read(DATA / f"color/kodim{n}.png"))) for n in (19, 23, 24)]
    methods = [by_preset(preset, ("--axes", "hwc")) for preset in PRESETS]
    compare(table, [*methods, peer(bm3d.bm3d_rgb)], subjects, levels)


def volumes():
    draw = np.random.default_rng(11)
    size = np.array([24, 96, 96])
    places = np.moveaxis(np.indices(size), 0, -1)
    ellipsoids = np.full(size, 40.0)
    for _ in range(25):
        radii = draw.uniform(5, 22, 3) * (0.6, 1, 1)
        inside = (((places - draw.uniform(0, size)) / radii) ** 2).sum(-1) < 1
        ellipsoids[inside] = draw.uniform(20, 235)
    lines = np.zeros(size)
    for _ in range(40):
        place, way = draw.uniform(0, size), draw.normal(size=3) * (0.4, 1, 1)
        for _ in range(160):
            way += 0.15 * draw.normal(size=3) * (0.4, 1, 1)
            way /= np.linalg.norm(way)
            place = place + 0.7 * way
            at = np.rint(place).astype(int)
            if (at >= 0).all() and (at < size).all():
                lines[tuple(at)] = 1
    lines = ndimage.gaussian_filter(lines, (1, 1.2, 1.2))
    house = grey(DATA / "standard/house.png")
    frames = [ndimage.shift(house, (0.7 * t, -1.3 * t), order=3, mode="nearest")[80:176, 80:176] for t in range(24)]
    return [
        ("ellipsoids", ndimage.gaussian_filter(ellipsoids, 0.6)),
        ("filaments", 10 + 225 * np.minimum(lines / np.quantile(lines, 0.995), 1)),
        ("moving House", np.stack(frames)),
    ]


def stacks(levels, save):
    import bm3d
    import bm4d

    columns = ["stack", "sigma", *words(PRESETS[1:]), "BM3D on slices", "BM4D"]
    table = Table("denoise-stacks", "Denoising of stacks", columns, save)
    slices = peer(lambda noisy, sigma: np.stack([bm3d.bm3d(image, sigma) for image in noisy]))
    methods = [by_preset(preset, ("--axes", "dhw")) for preset in PRESETS[1:]]
    compare(table, [*methods, slices, peer(bm4d.bm4d)], volumes(), levels)


def words(presets):
    return [f"`--preset {preset}`" for preset in presets]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("grey", "colour", "stacks"))
    parser.add_argument("--images", nargs="+", default=IMAGES)
    parser.add_argument("--levels", nargs="+", type=int, default=(15, 25, 50))
    parser.add_argument("--save", action="store_true", help="write the tables to paper/results/tables")
    options = parser.parse_args()
    if options.only in (None, "grey"):
        greyscale(options.images, options.levels, options.save)
    if options.only in (None, "colour"):
        colour(options.levels, options.save)
    if options.only in (None, "stacks"):
        stacks(options.levels, options.save)


if __name__ == "__main__":
    main()
