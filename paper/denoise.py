"""Denoising: lobcod beside patch coding with scikit-learn, SPORCO's CSC denoiser, BM3D, and median filters for text.

- Gaussian noise of level 15, 25 and 50 on the standard images (seed 0, not clipped, not rounded); of pictures of 512x512 the middle
  256x256, because of the slow peers. scikit-learn: a dictionary of 256 atoms learnt on 8x8 patches of the noisy image less
  their mean (MiniBatchDictionaryLearning), orthogonal matching pursuit to the error the noise leaves (1.1 sigma), patches averaged:
  K-SVD's recipe. SPORCO: the way of its example for grey images: Tikhonov base, its 8x8x128 dictionary, ConvBPDN with weights
  1 / correlation^2 and penalty 0.048 at a level of 0.1, which makes it 0.048 (level / 0.1)^3 at others; 100 iterations at most.
  BM3D: PyPI's bm3d.
- Text: 12 pages with 5 % salt and 5 % pepper (seed = number of the page), scored on the authors' crop; median filter with the
  best window for each page.

    pip install -r paper/requirements-tasks.txt && cargo build --release
    python paper/denoise.py                                  # everything
    python paper/denoise.py --images house --levels 25       # one
    python paper/denoise.py --only text
    python paper/denoise.py --only gaussian --peers peers.json   # scores of the slow peers are kept in that file

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
IMAGES = ("house", "peppers", "cameraman", "montage", "barbara", "boat", "lena", "couple", "fingerprint", "hill", "man")


def psnr(a, b, peak=255.0):
    return 10 * np.log10(peak ** 2 / np.mean((a - b) ** 2))


def lobcod(noisy, noise, *options):
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "noisy.npy", Path(folder) / "clean.npy"
        np.save(source, noisy.astype(np.float32))
        done = subprocess.run([BINARY, "denoise", source, "-o", output, "--noise", noise, "--json", *options],
                              stdout=subprocess.PIPE, check=True)
        return np.load(output), json.loads(done.stdout)


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
    allowed, energy = side * side * (1.1 * sigma) ** 2, (centred ** 2).sum(1)
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
    options = cbpdn.ConvBPDN.Options({"Verbose": False, "MaxMainIter": 100, "RelStopTol": 3e-3, "AuxVarObj": False, "L1Weight": weights,
                                      "HighMemSolve": True, "AutoRho": {"Enabled": False}, "rho": 400 * penalty})
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
        kept[key] = [psnr(patch_coding(noisy, sigma), clean), psnr(sporco_csc(noisy, sigma), clean), psnr(bm3d.bm3d(noisy, sigma), clean)]
        if file:
            file.write_text(json.dumps(kept, indent=1))
    return kept[key]


def middle(picture, side=256):
    y, x = ((n - side) // 2 for n in picture.shape)
    return picture[y:y + side, x:x + side]


def gaussian(images, levels, with_peers, file):
    print("PSNR in dB          noisy  lobcod  --keep-atoms  convolutional  estimated sigma" + "  sklearn  SPORCO    BM3D" * with_peers)
    rows = {sigma: [] for sigma in levels}
    for name in images:
        clean = middle(np.asarray(Image.open(DATA / f"standard/{name}.png").convert("L")).astype(float))
        for sigma in levels:
            noisy = clean + np.random.default_rng(0).normal(0, sigma, clean.shape)
            row = [psnr(noisy, clean)]
            row += [psnr(lobcod(noisy, f"gaussian:{sigma}", *options)[0], clean)
                    for options in ((), ("--keep-atoms",), ("--method", "convolutional"))]
            row.append(lobcod(noisy, "gaussian", "--keep-atoms")[1]["noise_level"])
            if with_peers:
                row += scores_of_peers(name, noisy, sigma, clean, file)
            rows[sigma].append(row)
            tell_scores(f"{name:12} {sigma:4}", row)
    for sigma in levels:
        tell_scores(f"{'mean':12} {sigma:4}", np.mean(rows[sigma], axis=0))


def tell_scores(title, row):
    widths = (7, 7, 13, 14, 16, 8, 7, 7)
    print(title, *(f"{x:{width}.2f}" for x, width in zip(row, widths)), flush=True)


def text(pages):
    print("page            noisy  lobcod  --keep-atoms  best median")
    crop, rows = np.s_[220:460, 90:330], []
    for number, path in enumerate(sorted((DATA / "text").glob("*.png"))):
        if pages and int(path.stem[-4:]) not in pages:
            continue
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
    parser.add_argument("--pages", nargs="+", type=int, help="text: numbers of the pages, all unless given")
    parser.add_argument("--no-peers", action="store_true", help="leave the slow peers out")
    parser.add_argument("--peers", type=Path, help="file that keeps their scores, read and written")
    options = parser.parse_args()
    if options.only != "text":
        gaussian(options.images, options.levels, not options.no_peers, options.peers)
    if options.only != "gaussian":
        text(options.pages)
