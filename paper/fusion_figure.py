"""The paper's fusion figures: PSNR of lobcod and of Liu 2016 on synthetic pairs, and zooms with their error images.

Pairs by the recipe of the data's README (blur with zeros outside, rounded to 8 bits): Barbara and Butterfly, split
by a disc, with --full by a vertical line and a diagonal too; the Bird pair of the authors; a synthetic scene.
Scores without the rim, as the authors', and of the whole image. `lobcod` has the default options, `paper's way` is
`--compose codes --activity plain`. Liu 2016: Tikhonov base (weight 5), CSC of the rest by SPORCO's ADMM, activity
in the same window, choose-max; the better of its two bases (chosen, averaged) counts. It works on 0..1 with penalty
0.01 and SPORCO's 8x8x32 dictionary, as published.

    python paper/fusion_figure.py [--quick|--full] [--images FOLDER]

The zooms of the scene go to the results; those of Butterfly to FOLDER, since the image may not be redistributed.
"""

import argparse
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from scipy import ndimage

from lib import synthetic
from lib.common import DATA, ROOT, Results, grey, parse, read, run
from lib.fusing import blur, fuse, score, splits

# Name: file, part, blur side, blur sigma, window.
PAIRS = {
    "Barbara": ("standard/barbara.png", np.s_[128:384, 200:456], 9, 2, 9),
    "Butterfly": ("fusion/butterfly_256.png", np.s_[:, :], 16, 4, 8),
}
WAYS = {
    "lobcod": (),
    "--fast": ("--fast",),
    "--activity plain": ("--activity", "plain"),
    "paper's way": ("--compose", "codes", "--activity", "plain"),
}
LIU = "Liu 2016"
ZOOM = np.s_[92:164, 140:212]


def liu2016(frames, window):
    """Both fused images of Liu 2016, frames in 0..255: base chosen, base averaged."""
    warnings.filterwarnings("ignore")
    from sporco import signal, util
    from sporco.admm import cbpdn

    atoms = util.convdicts()["G:8x8x32"]
    bases, maps, activity = [], [], []
    for frame in frames:
        base, rest = signal.tikhonov_filter(frame / 255, 5)
        options = cbpdn.ConvBPDN.Options({"Verbose": False, "MaxMainIter": 200, "RelStopTol": 5e-3, "AuxVarObj": False})
        codes = np.asarray(cbpdn.ConvBPDN(atoms, rest, 0.01, options, dimK=0).solve()).squeeze()
        # A code of SPORCO is at the first sample of its patch; its activity belongs to the centre.
        bases.append(base), maps.append(codes)
        activity.append(ndimage.uniform_filter(np.roll(np.abs(codes).sum(-1), (4, 4), (0, 1)), window))
    chosen = activity[1] > activity[0]
    at_first = np.roll(chosen, (-4, -4), (0, 1))[..., None]
    spectrum = np.fft.rfft2(np.where(at_first, maps[1], maps[0]), axes=(0, 1)) * np.fft.rfft2(
        atoms, chosen.shape, axes=(0, 1)
    )
    detail = np.fft.irfft2(spectrum.sum(-1), chosen.shape)
    return [255 * (base + detail) for base in (np.where(chosen, bases[1], bases[0]), (bases[0] + bases[1]) / 2)]


def liu_apart(frames, window, truth):
    """The better of Liu 2016's two images, from a process of its own that may be stopped."""
    with tempfile.TemporaryDirectory() as folder:
        task, answer = Path(folder) / "task.npz", Path(folder) / "answer.npy"
        np.savez(task, frames=np.stack(frames), window=window)
        run([sys.executable, __file__, "--liu", task, answer], 400)
        return max(np.load(answer), key=lambda fused: score(fused, truth))


def scores(fused, truth):
    return {
        "without_rim": round(float(score(fused, truth)), 2),
        "whole": round(float(score(fused, truth, np.s_[:, :])), 2),
    }


def pair_scores(truth, frames, window, images=None):
    """PSNR of every way; the fused images into `images`."""
    fused = {}
    with tempfile.TemporaryDirectory() as folder:
        for way, words in WAYS.items():
            fused[way] = fuse(folder, frames, "--window", window, *words)[1]
    fused[LIU] = liu_apart(frames, window, truth)
    if images is not None:
        images.update(fused)
    return {"psnr_db": {way: scores(image, truth) for way, image in fused.items()}}


def lightness(rgb):
    """Lab L of sRGB in 0..255, white D65."""
    linear = np.where(rgb / 255 <= 0.04045, rgb / 255 / 12.92, ((rgb / 255 + 0.055) / 1.055) ** 2.4)
    y = linear @ [0.2126729, 0.7151522, 0.0721750]
    return 116 * np.where(y > (6 / 29) ** 3, np.cbrt(y), y * (29 / 6) ** 2 / 3 + 4 / 29) - 16


def bird():
    """The authors' colour pair, in their convention: L in 0..100 with peak 255, rows and columns 8 to 202."""
    files = [DATA / f"fusion/bird_210_{side}_in_focus.png" for side in ("foreground", "background")]
    original = DATA / "fusion/bird_210_original.png"
    answer = {}
    with tempfile.TemporaryDirectory() as folder:
        for way, words in WAYS.items():
            report, _ = fuse(folder, files, "--reference", original, "--window", 14, *words)
            answer[way] = {"without_rim": round(report["psnr_authors_db"], 2)}
    truth = lightness(read(original))
    fused = liu_apart([2.55 * lightness(read(path)) for path in files], 14, 2.55 * truth) / 2.55
    answer[LIU] = {"without_rim": round(float(score(fused, truth, np.s_[7:202, 7:202])), 2)}
    return {"psnr_db": answer, "convention": "authors'"}


def draw(truth, fused, file):
    """Zooms of the truth, of Liu 2016 and of lobcod, and five times the errors of both."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    error = lambda image: np.clip(5 * np.abs(image - truth), 0, 255)
    panels = {
        "original": truth,
        LIU: fused[LIU],
        "lobcod": fused["lobcod"],
        "5 x error, Liu 2016": error(fused[LIU]),
        "5 x error, lobcod": error(fused["lobcod"]),
    }
    figure, axes = pyplot.subplots(1, len(panels), figsize=(12, 2.8))
    for axis, (title, image) in zip(axes, panels.items()):
        axis.imshow(image[ZOOM], cmap="gray", vmin=0, vmax=255, interpolation="nearest")
        axis.set_title(title, fontsize=9)
        axis.axis("off")
    figure.tight_layout()
    figure.savefig(file, dpi=100)
    pyplot.close(figure)


def main():
    options = parse(
        __doc__,
        **{
            "--liu": {"nargs": 2, "type": Path, "help": argparse.SUPPRESS},
            "--images": {"type": Path, "default": ROOT / "fusion-images"},
        },
    )
    if options.liu:
        task, answer = options.liu
        given = np.load(task)
        return np.save(answer, liu2016(list(given["frames"]), int(given["window"])))
    results, full = Results("fusion", options), options.size == "full"
    blurs = {"9x9, sigma 2": (9, 2, 9), "16x16, sigma 4": (16, 4, 8)}
    for title, (side, sigma, window) in blurs.items():
        if side == 9 and not full:
            continue
        truth, frames = synthetic.stack(256, 256, 2, lambda image: blur(image, side, sigma))
        fused = {}
        results.part(f"scene, {title}", lambda: pair_scores(truth, frames, window, fused))
        if fused:
            draw(truth, fused, results.file(f"fusion-scene-{side}.png"))
    if not (DATA / "fusion").exists():
        return None
    for name, (file, part, side, sigma, window) in PAIRS.items():
        image = grey(DATA / file)[part]
        soft = blur(image, side, sigma)
        for split, mask in splits(*image.shape).items():
            if not full and split != "disc":
                continue
            frames, fused = [np.where(mask, image, soft), np.where(mask, soft, image)], {}
            results.part(f"{name}, {split}", lambda: pair_scores(image, frames, window, fused))
            if fused:
                options.images.mkdir(parents=True, exist_ok=True)
                draw(image, fused, options.images / f"zoom-{name}-{split}.png")
    return results.part("Bird", bird)


if __name__ == "__main__":
    main()
