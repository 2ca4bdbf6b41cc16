"""Inpainting compared with other programs. (The paper's table: inpainting.py.)

    --peers    PSNR and SSIM of the written image on the same masks: OpenCV (Telea, Navier-Stokes), scikit-image
               (biharmonic), SPORCO (mask-decoupled ADMM, its own 12x12x72 dictionary, the local mean over known
               pixels subtracted first, the better of two penalties by the true image), lobcod. Masks: 50 % and 80 %
               random pixels, text, scratches; made here from a fixed seed.
    --colour   PSNR on the Kodak images 19, 23 and 24 at 50 %: nothing was chosen on these.
    --damage   PSNR and SSIM on the same images in colour with scratches and text: OpenCV, scikit-image, presets.

Setting up, from the root of the repository:

    python3 -m venv .venv-inpainting
    .venv-inpainting/bin/pip install 'numpy<2' 'setuptools<70' scipy pillow opencv-python-headless scikit-image
    .venv-inpainting/bin/pip install sporco==0.2.2.post1
    cargo build --release
    .venv-inpainting/bin/python paper/inpainting_peers.py --peers

Standard error has the seconds of every solver: wall times, so run this on a quiet machine.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from lib.common import DATA, Table, grey, lobcod, psnr, read, save_image


def inpaint(image, known, out, *options):
    """The report of one run of lobcod."""
    return lobcod(
        "inpaint", image, "--known", known, "-o", out, "--reference", image, *options, threads=0, timeout=1800
    )


def masks(height, width):
    """Known pixels (True) for every kind of damage."""
    rng = np.random.default_rng(0)
    drawn = {}
    text = Image.new("L", (width, height), 255)
    pen = ImageDraw.Draw(text)
    font = ImageFont.load_default(size=14)
    words = "convolutional sparse coding by local block coordinate descent "
    for row, y in enumerate(range(2, height, 20)):
        pen.text((2 - 17 * (row % 4), y), words * (1 + width // 300), fill=0, font=font)
    drawn["text"] = np.asarray(text) > 127
    scratch = Image.new("L", (width, height), 255)
    pen = ImageDraw.Draw(scratch)
    for _ in range(25):
        a, b = rng.uniform(0, 1, (2, 2)) * (width, height)
        pen.line([tuple(a), tuple(b)], fill=0, width=int(rng.integers(1, 5)))
    drawn["scratches"] = np.asarray(scratch) > 127
    return {
        "50 % random": rng.uniform(size=(height, width)) >= 0.5,
        "80 % random": rng.uniform(size=(height, width)) >= 0.8,
        **drawn,
    }


def local_mean(image, known):
    """Mean over the known pixels of an 8x8 box."""
    from scipy.ndimage import uniform_filter

    box = lambda x: uniform_filter(x.astype(float), 8, mode="mirror")
    return box(image * known) / np.maximum(box(known), 1e-6)


def sporco_fill(image, known):
    """SPORCO's mask-decoupled ADMM; images in 0..1, padded by the atom's side."""
    from sporco import util
    from sporco.admm import cbpdn

    atoms = util.convdicts()["G:12x12x72"].astype(np.float32)
    base = local_mean(image, known)
    details = (known * (image - base) / 255).astype(np.float32)
    pad = lambda x: np.pad(x, ((0, 12), (0, 12)))
    best, seconds = None, 0.0
    for penalty in (2e-3, 1e-2):
        settings = cbpdn.ConvBPDNMaskDcpl.Options(
            {
                "Verbose": False,
                "MaxMainIter": 200,
                "HighMemSolve": True,
                "RelStopTol": 5e-3,
                "AuxVarObj": False,
                "RelaxParam": 1.8,
                "rho": 50 * penalty + 0.1,
                "AutoRho": {"Enabled": False, "StdResiduals": False},
            }
        )
        began = time.time()
        solver = cbpdn.ConvBPDNMaskDcpl(atoms, pad(details), penalty, pad(known.astype(np.float32)), opt=settings)
        solver.solve()
        fit = solver.reconstruct().squeeze()[:-12, :-12] * 255 + base
        seconds = max(seconds, time.time() - began)
        filled = np.where(known, image, fit)
        if best is None or ((filled - image) ** 2).sum() < ((best - image) ** 2).sum():
            best = filled
    return best, seconds


def others():
    """Functions of an image and its known pixels."""
    import cv2
    from skimage.restoration import inpaint_biharmonic

    def by_opencv(method):
        return lambda image, known: cv2.inpaint(
            np.where(spread(known, image), image, 0).astype(np.uint8), (~known).astype(np.uint8) * 255, 3, method
        )

    def biharmonic(image, known):
        axis = -1 if image.ndim == 3 else None
        return inpaint_biharmonic(np.where(spread(known, image), image, 0) / 255, ~known, channel_axis=axis) * 255

    return {
        "OpenCV Telea": by_opencv(cv2.INPAINT_TELEA),
        "OpenCV Navier-Stokes": by_opencv(cv2.INPAINT_NS),
        "scikit-image biharmonic": biharmonic,
    }


def spread(known, image):
    """The known pixels with an axis of colours if the image has one."""
    return known if image.ndim == 2 else known[..., None]


def scores(filled, image):
    """PSNR and SSIM of the written image."""
    from skimage.metrics import structural_similarity

    filled = np.clip(np.round(filled), 0, 255)
    settings = {"data_range": 255, "gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False}
    axis = -1 if image.ndim == 3 else None
    return psnr(filled, image), structural_similarity(filled, image, channel_axis=axis, **settings)


def timed(fill):
    def run(image, known):
        began = time.time()
        return fill(image, known), time.time() - began

    return run


def by_lobcod(options, folder, *extra):
    def run(image, known):
        save_image(folder / "image.png", image)
        save_image(folder / "known.png", 255 * known)
        report = inpaint(folder / "image.png", folder / "known.png", folder / "out.png", *extra, *options.extra.split())
        return read(folder / "out.png"), report["seconds"]

    return run


def peers(options, folder):
    solvers = {name: timed(fill) for name, fill in others().items()}
    solvers["SPORCO mask-decoupled ADMM"] = sporco_fill
    solvers["lobcod `--preset standard`"] = by_lobcod(options, folder)
    solvers["lobcod `--learn image`"] = by_lobcod(options, folder, "--learn", "image")
    solvers["lobcod `--preset best`"] = by_lobcod(options, folder, "--preset", "best")
    for name in options.images or ["house", "peppers", "cameraman"]:
        image = grey(DATA / "standard" / f"{name}.png")
        kinds = masks(*image.shape)
        table = Table(f"inpaint-{name}", f"Inpainting {name.capitalize()}", [name.capitalize(), *kinds], options.save)
        for title, solver in solvers.items():
            if options.solvers and not any(word in title for word in options.solvers):
                continue
            cells = []
            for kind, known in kinds.items():
                filled, seconds = solver(image, known)
                cells.append("{:.2f}, {:.4f}".format(*scores(filled, image)))
                print(f"{name}, {kind}, {title}: {seconds:.2f} s", file=sys.stderr, flush=True)
            table.add(title, *cells)
        table.close()


def damage(options, folder):
    solvers = {name: timed(fill) for name, fill in others().items()}
    solvers["lobcod `--preset standard`"] = by_lobcod(options, folder)
    solvers["lobcod `--preset best`"] = by_lobcod(options, folder, "--preset", "best")
    solvers = {
        title: solver
        for title, solver in solvers.items()
        if not options.solvers or any(word in title for word in options.solvers)
    }
    title = "Scratches and text on Kodak images in colour: PSNR in dB, SSIM"
    table = Table("inpaint-damage", title, ["image", "damage", *solvers], options.save)
    for name in options.images or ["kodim19", "kodim23", "kodim24"]:
        image = read(DATA / "color" / f"{name}.png")
        kinds = masks(*image.shape[:2])
        for kind in ("scratches", "text"):
            cells = []
            for title, solver in solvers.items():
                filled, seconds = solver(image, kinds[kind])
                cells.append("{:.2f}, {:.4f}".format(*scores(filled, image)))
                print(f"{name}, {kind}, {title}: {cells[-1]}, {seconds:.2f} s", file=sys.stderr, flush=True)
            table.add(name, kind, *cells)
    table.close()


def colour(options, folder):
    table = Table("inpaint-kodak", "Inpainting of Kodak images", ["image", "PSNR of the fit, dB", "SSIM"], options.save)
    for name in options.images or ["kodim19", "kodim23", "kodim24"]:
        image = DATA / "color" / f"{name}.png"
        width, height = Image.open(image).size
        save_image(folder / "known.png", 255 * masks(height, width)["50 % random"])
        report = inpaint(image, folder / "known.png", folder / "out.png", *options.extra.split())
        table.add(name, f"{report['psnr_db']:.2f}", f"{report['ssim']:.4f}")
    table.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", action="store_true", help="other programs on the same masks")
    parser.add_argument("--colour", action="store_true", help="colour images on which nothing was tuned")
    parser.add_argument("--damage", action="store_true", help="scratches and text on these, and other programs")
    parser.add_argument("--images", nargs="+", help="only these images")
    parser.add_argument("--solvers", nargs="+", help="only solvers whose name has one of these words")
    parser.add_argument("--extra", default="", help="further options of `lobcod inpaint`, in one word")
    parser.add_argument("--save", action="store_true", help="write the tables to paper/results/tables")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for wanted, work in ((options.peers, peers), (options.colour, colour), (options.damage, damage)):
            if wanted:
                work(options, Path(folder))


if __name__ == "__main__":
    main()
