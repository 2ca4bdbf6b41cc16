"""Denoising compared with patch coding by scikit-learn, SPORCO's CSC denoiser, BM3D, and median filters for text.

- Gaussian noise of level 15, 25 and 50 on the standard images (seed 0, not clipped, not rounded); of images of
  512x512 the middle 256x256, because of the slow peers. scikit-learn: a dictionary of 256 atoms learnt on 8x8
  patches of the noisy image less their mean (MiniBatchDictionaryLearning), orthogonal matching pursuit to the error
  the noise leaves (1.1 sigma), patches averaged: K-SVD's recipe. SPORCO: the way of its example for grey images:
  Tikhonov base, its 8x8x128 dictionary, ConvBPDN with weights 1 / correlation^2 and penalty 0.048 at a level of
  0.1, which makes it 0.048 (level / 0.1)^3 at others; 100 iterations at most. BM3D: PyPI's bm3d.
- Text: 12 pages with 5 % salt and 5 % pepper (seed = number of the page), scored on the authors' crop; median
  filter with the best window for each page.

    pip install -r paper/requirements-tasks.txt && cargo build --release
    python paper/denoise.py                                  # everything
    python paper/denoise.py --images house --levels 25       # one
    python paper/denoise.py --only text
    python paper/denoise.py --only gaussian --peers peers.json   # scores of the slow peers are kept in that file
"""

import argparse
import json
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy import ndimage

from lib.common import DATA, Table, grey, middle, psnr
from lib.denoising import denoise
from lib.titles import IMAGES

warnings.filterwarnings("ignore")


def patch_coding(noisy, sigma, side=8, atoms=256):
    from sklearn.decomposition import MiniBatchDictionaryLearning
    from sklearn.feature_extraction.image import extract_patches_2d, reconstruct_from_patches_2d
    from sklearn.linear_model import orthogonal_mp_gram

    patches = extract_patches_2d(noisy, (side, side)).reshape(-1, side * side)
    means = patches.mean(1, keepdims=True)
    centred = patches - means
    learner = MiniBatchDictionaryLearning(atoms, alpha=1.2 * sigma, batch_size=256, max_iter=20, random_state=0)
    atoms = learner.fit(centred[::7]).components_
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True) + 1e-12
    allowed, energy = side * side * (1.1 * sigma) ** 2, (centred**2).sum(1)
    busy, clean = energy > allowed, np.zeros_like(centred)
    codes = orthogonal_mp_gram(atoms @ atoms.T, atoms @ centred[busy].T, tol=allowed, norms_squared=energy[busy])
    clean[busy] = codes.T @ atoms
    return reconstruct_from_patches_2d((clean + means).reshape(-1, side, side), noisy.shape)


def sporco_csc(noisy, sigma, margin=8):
    from sporco import fft, signal, util
    from sporco.admm import cbpdn

    atoms = util.convdicts()["G:8x8x128"].astype(np.float32)
    base, _ = signal.tikhonov_filter((noisy / 255).astype(np.float32), 5.0, 16)
    rest = np.pad((noisy / 255).astype(np.float32) - base, margin, mode="symmetric")
    spectra = np.conj(fft.rfftn(atoms, rest.shape, (0, 1))) * fft.rfftn(rest[..., None], None, (0, 1))
    weights = 1 / np.maximum(fft.irfftn(spectra, rest.shape, (0, 1)) ** 2, 1e-8)
    penalty = 0.048 * (sigma / 25.5) ** 3
    options = cbpdn.ConvBPDN.Options(
        {
            "Verbose": False,
            "MaxMainIter": 100,
            "RelStopTol": 3e-3,
            "AuxVarObj": False,
            "L1Weight": weights,
            "HighMemSolve": True,
            "AutoRho": {"Enabled": False},
            "rho": 400 * penalty,
        }
    )
    solver = cbpdn.ConvBPDN(atoms, rest, penalty, options, dimK=0)
    solver.solve()
    inner = np.s_[margin:-margin, margin:-margin]
    return 255 * np.clip(solver.reconstruct().squeeze()[inner] + base, 0, 1)


def scores_of_peers(name, noisy, sigma, clean, file):
    """scikit-learn, SPORCO, BM3D; from the file where it has them."""
    kept = json.loads(file.read_text()) if file and file.exists() else {}
    key = f"{name} {sigma}"
    if key not in kept:
        import bm3d

        made = (patch_coding(noisy, sigma), sporco_csc(noisy, sigma), bm3d.bm3d(noisy, sigma))
        kept[key] = [psnr(image, clean) for image in made]
        if file:
            file.write_text(json.dumps(kept, indent=1))
    return kept[key]


def gaussian(images, levels, with_peers, file, save):
    ways = {f"`--preset {preset}`": ("--preset", preset) for preset in ("fast", "standard", "best")}
    ways["`--method convolutional`"] = ("--method", "convolutional")
    columns = ["sigma", "noisy", *ways, *["scikit-learn", "SPORCO", "BM3D"] * with_peers]
    title = f"Denoising compared with other programs, means of {len(images)} images"
    table = Table("denoise-gaussian", title, columns, save)
    for sigma in levels:
        rows = []
        for name in images:
            clean = middle(grey(DATA / f"standard/{name}.png"))
            noisy = clean + np.random.default_rng(0).normal(0, sigma, clean.shape)
            row = [psnr(noisy, clean)]
            row += [psnr(denoise(noisy, "--noise", f"gaussian:{sigma}", *words)[0], clean) for words in ways.values()]
            if with_peers:
                row += scores_of_peers(name, noisy, sigma, clean, file)
            rows.append(row)
            print(name, sigma, *(f"{value:.2f}" for value in row), file=sys.stderr, flush=True)
        table.add(sigma, *(f"{value:.2f}" for value in np.mean(rows, axis=0)))
    table.close()


def text(pages, save):
    columns = ["page", "noisy", "lobcod", "`--keep-atoms`", "best median"]
    table = Table("denoise-text", "Denoising pages of text", columns, save)
    crop, rows = np.s_[220:460, 90:330], []
    for number, path in enumerate(sorted((DATA / "text").glob("*.png"))):
        if pages and int(path.stem[-4:]) not in pages:
            continue
        page = grey(path)
        draw = np.random.default_rng(number).random(page.shape)
        noisy = np.where(draw < 0.05, 0, np.where(draw > 0.95, 255, page))
        ours = [psnr(denoise(noisy, "--noise", "impulse", *o)[0][crop], page[crop]) for o in ((), ("--keep-atoms",))]
        median = max(psnr(ndimage.median_filter(noisy, side)[crop], page[crop]) for side in (3, 5, 7))
        rows.append([psnr(noisy[crop], page[crop]), *ours, median])
        table.add(path.stem, *(f"{value:.2f}" for value in rows[-1]))
    table.add("mean", *(f"{value:.2f}" for value in np.mean(rows, axis=0)))
    table.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("gaussian", "text"))
    parser.add_argument("--images", nargs="+", default=IMAGES)
    parser.add_argument("--levels", nargs="+", type=int, default=(15, 25, 50))
    parser.add_argument("--pages", nargs="+", type=int, help="text: numbers of the pages, all unless given")
    parser.add_argument("--no-peers", action="store_true", help="leave the slow peers out")
    parser.add_argument("--peers", type=Path, help="file that keeps their scores, read and written")
    parser.add_argument("--save", action="store_true", help="write the tables to paper/results/tables")
    options = parser.parse_args()
    if options.only != "text":
        gaussian(options.images, options.levels, not options.no_peers, options.peers, options.save)
    if options.only != "gaussian":
        text(options.pages, options.save)


if __name__ == "__main__":
    main()
