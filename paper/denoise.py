"""Denoising: lobcod beside patch coding with scikit-learn, SPORCO's CSC denoiser, BM3D, and median filters for text.

- Gaussian noise of level 15, 25 and 50 on the standard images (seed 0, not clipped, not rounded). scikit-learn: a dictionary
  of 100 atoms learnt on 8x8 patches of the noisy image less their mean (MiniBatchDictionaryLearning), orthogonal matching
  pursuit to the error the noise leaves (1.1 sigma), patches averaged: K-SVD's recipe. SPORCO: its example for grey images,
  Tikhonov base and ConvBPDN with the embedded 8x8x128 dictionary; the penalty is the best of three. BM3D: PyPI's bm3d.
- Text: 12 pages with 5 % salt and 5 % pepper (seed = number of the page), scored on the authors' crop; median filter with the
  best window for each page.

    pip install -r paper/requirements-tasks.txt && cargo build --release
    python paper/denoise.py                                  # everything
    python paper/denoise.py --images house --levels 25       # one
    python paper/denoise.py --only text

The images are looked for in $LOBCOD_DATA, else in ../shared/data beside the repository.
"""
import argparse
import json
import os
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
from PIL import Image
from scipy import ndimage

warnings.filterwarnings("ignore")
ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("LOBCOD_DATA", ROOT.parent / "shared" / "data"))
BINARY = ROOT / "target" / "release" / "lobcod"
IMAGES = ("barbara", "boat", "house", "lena", "peppers", "cameraman", "couple", "fingerprint", "hill", "man", "montage")


def psnr(a, b, peak=255.0):
    return 10 * np.log10(peak ** 2 / np.mean((a - b) ** 2))


def lobcod(noisy, noise, *options):
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "noisy.npy", Path(folder) / "clean.npy"
        np.save(source, noisy.astype(np.float32))
        done = subprocess.run([BINARY, "denoise", source, "-o", output, "--noise", noise, "--json", *options],
                              stdout=subprocess.PIPE, check=True)
        return np.load(output), json.loads(done.stdout)


def patch_coding(noisy, sigma, side=8):
    from sklearn.decomposition import MiniBatchDictionaryLearning
    from sklearn.feature_extraction.image import extract_patches_2d, reconstruct_from_patches_2d
    from sklearn.linear_model import orthogonal_mp_gram
    patches = extract_patches_2d(noisy, (side, side)).reshape(-1, side * side)
    means = patches.mean(1, keepdims=True)
    centred = patches - means
    learner = MiniBatchDictionaryLearning(100, alpha=1.2 * sigma, batch_size=256, max_iter=20, random_state=0)
    atoms = learner.fit(centred[::7]).components_
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True) + 1e-12
    allowed = np.full(1, side * side * (1.1 * sigma) ** 2)
    gram, out = atoms @ atoms.T, centred * 0
    busy = (centred ** 2).sum(1) > allowed[0]
    energy = (centred ** 2).sum(1)
    for i in np.flatnonzero(busy):
        code = orthogonal_mp_gram(gram, atoms @ centred[i], tol=allowed[0], norms_squared=energy[i:i + 1])
        out[i] = code @ atoms
    return reconstruct_from_patches_2d((out + means).reshape(-1, side, side), noisy.shape)


def sporco_csc(noisy, sigma, clean):
    """The best of three penalties, which the noise level alone does not tell it."""
    from sporco import signal, util
    from sporco.admm import cbpdn
    atoms = util.convdicts()["G:8x8x128"]
    base, rest = signal.tikhonov_filter(noisy / 255, 5)
    best = -np.inf
    for factor in (2.0, 3.0, 4.0):
        options = cbpdn.ConvBPDN.Options({"Verbose": False, "MaxMainIter": 60, "RelStopTol": 1e-2, "AuxVarObj": False})
        solver = cbpdn.ConvBPDN(atoms, rest, factor * sigma / 255, options, dimK=0)
        solver.solve()
        best = max(best, psnr(255 * (solver.reconstruct().squeeze() + base), clean))
    return best


def gaussian(images, levels, peers):
    print("PSNR in dB          noisy  lobcod  --keep-atoms  convolutional  estimated sigma" + "  sklearn  SPORCO    BM3D" * peers)
    for name in images:
        clean = np.asarray(Image.open(DATA / f"standard/{name}.png").convert("L")).astype(float)
        for sigma in levels:
            noisy = clean + np.random.default_rng(0).normal(0, sigma, clean.shape)
            scores = [psnr(lobcod(noisy, f"gaussian:{sigma}", *options)[0], clean)
                      for options in ((), ("--keep-atoms",), ("--method", "convolutional"))]
            level = lobcod(noisy, "gaussian", "--keep-atoms")[1]["noise_level"]
            line = f"{name:12} {sigma:4} {psnr(noisy, clean):7.2f} {scores[0]:7.2f} {scores[1]:13.2f} {scores[2]:14.2f} {level:16.2f}"
            if peers:
                import bm3d
                line += (f" {psnr(patch_coding(noisy, sigma), clean):8.2f} {sporco_csc(noisy, sigma, clean):7.2f}"
                         f" {psnr(bm3d.bm3d(noisy, sigma), clean):7.2f}")
            print(line, flush=True)


def text():
    print("page            noisy  lobcod  --keep-atoms  best median")
    crop, rows = np.s_[220:460, 90:330], []
    for number, path in enumerate(sorted((DATA / "text").glob("*.png"))):
        page = np.asarray(Image.open(path).convert("L")).astype(float)
        draw = np.random.default_rng(number).random(page.shape)
        noisy = np.where(draw < 0.05, 0, np.where(draw > 0.95, 255, page))
        ours = [psnr(lobcod(noisy, "impulse", *o)[0][crop], page[crop]) for o in ((), ("--keep-atoms",))]
        median = max(psnr(ndimage.median_filter(noisy, side)[crop], page[crop]) for side in (3, 5, 7))
        rows.append([psnr(noisy[crop], page[crop]), *ours, median])
        print(f"{path.stem:14} {rows[-1][0]:6.2f} {ours[0]:7.2f} {ours[1]:13.2f} {median:12.2f}", flush=True)
    mean = np.mean(rows, axis=0)
    print(f"mean           {mean[0]:6.2f} {mean[1]:7.2f} {mean[2]:13.2f} {mean[3]:12.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("gaussian", "text"))
    parser.add_argument("--images", nargs="+", default=IMAGES)
    parser.add_argument("--levels", nargs="+", type=int, default=(15, 25, 50))
    parser.add_argument("--no-peers", action="store_true", help="leave the slow peers out")
    options = parser.parse_args()
    if options.only != "text":
        gaussian(options.images, options.levels, not options.no_peers)
    if options.only != "gaussian":
        text()
