"""The paper's inpainting table: PSNR on 11 images, 50 % of the pixels missing, ours and slice-based learning (SBDL) beside the paper's rows.

PSNR of the fit, known pixels included, as in the paper. Rows of lobcod: embedded dictionary, one learnt on Fruit, image-specific (`--learn
image`), and with --full `--preset best`; its penalties are chosen by the program, without the original. Rows of SBDL
(crates/lobcod-baselines): the embedded dictionary and the one learnt on Fruit, and image-specific with K-SVD and MOD from the embedded start; the
best of some penalties by the true picture, which the paper too chose for every image. One thread each.

    python paper/inpainting.py [--quick|--full] [--images house barbara] [--rows external sbdl-external]

Without the reference images: two scenes made by formula, and masks from a fixed seed.
"""
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

import procedural
from common import DATA, EXAMPLES, Results, lobcod, parse, run

IMAGES = ["barbara", "boat", "house", "lena", "peppers", "cameraman", "couple", "fingerprint", "hill", "man", "montage"]
PAPER = {
    "SBDL, external": [30.41, 31.76, 36.17, 35.92, 33.69, 28.76, 32.16, 30.91, 33.12, 33.04, 28.93],
    "LoBCoD, external": [30.93, 31.82, 36.58, 36.15, 33.54, 28.88, 32.46, 31.75, 33.25, 33.18, 29.18],
    "SBDL, image-specific": [31.98, 32.04, 36.19, 36.01, 34.03, 28.85, 32.18, 30.96, 33.21, 32.99, 28.95],
    "LoBCoD, image-specific": [32.50, 32.27, 36.74, 36.17, 34.48, 29.04, 32.56, 31.76, 33.42, 33.25, 29.23],
}
OURS = {"external": ("lobcod, embedded atoms", []), "fruit": ("lobcod, atoms of Fruit", ["--dictionary", "FRUIT"]),
        "specific": ("lobcod, image-specific", ["--learn", "image"]), "best": ("lobcod, `--preset best`", ["--preset", "best"])}
SLICES = {"sbdl-external": ("SBDL, embedded atoms", "natural", "outside"), "sbdl-fruit": ("SBDL, atoms of Fruit", "FRUIT", "outside"),
          "sbdl-ksvd": ("SBDL, image-specific, K-SVD", "natural", "ksvd"), "sbdl-mod": ("SBDL, image-specific, MOD", "natural", "mod")}
TITLES = {key: row[0] for key, row in {**OURS, **SLICES}.items()}


class Table:
    def __init__(self, folder, full):
        self.folder, self.full, self.fruit = Path(folder), full, None

    def fruit_atoms(self):
        """81 atoms of 8x8 learnt on the ten Fruit images (scenes, where they are not)."""
        if self.fruit is None:
            self.fruit = self.folder / "fruit.npz"
            source = [DATA / "fruit"] if (DATA / "fruit").exists() else self.scenes(range(100, 110), 100)
            lobcod("learn", *source, "-o", self.fruit, "--atoms", 81, "--size", "8x8", "--penalty", 40, "--passes", 60)
        return self.fruit

    def scenes(self, seeds, side):
        files = [self.folder / f"scene{seed}.png" for seed in seeds]
        for seed, path in zip(seeds, files):
            Image.fromarray(procedural.scene(side, side, seed).astype(np.uint8)).save(path)
        return files

    def files(self, name):
        """Picture and mask."""
        if name.startswith("scene"):
            known = self.folder / "known.png"
            Image.fromarray((np.random.default_rng(0).random((256, 256)) < 0.5).astype(np.uint8) * 255).save(known)
            return self.scenes([int(name[5:])], 256)[0], known
        image = DATA / "standard" / f"{name}.png"
        return image, DATA / "standard" / "masks" / f"mask50_rng0_{Image.open(image).width}.png"

    def ours(self, row, name):
        image, known = self.files(name)
        words = [self.fruit_atoms() if word == "FRUIT" else word for word in OURS[row][1]]
        report = lobcod("inpaint", image, "--known", known, "-o", self.folder / "out.png", "--reference", image, *words, timeout=1800)
        return {"psnr_db": report["psnr_db"], "seconds": report["seconds"], "penalty": report["penalty"]}

    def slices(self, row, name):
        image, known = self.files(name)
        _, atoms, way = SLICES[row]
        atoms = self.fruit_atoms() if atoms == "FRUIT" else atoms
        tried = []
        for penalty in (1, 2, 5) if self.full else (2,):
            told, seconds, _ = run([EXAMPLES / "rival_inpaint", image, known, penalty, 60, atoms, way], 1800)
            tried.append({"penalty": penalty, "psnr_db": float(told.rsplit("dB,", 1)[0].split()[-1]), "seconds": seconds})
        return {**max(tried, key=lambda one: one["psnr_db"]), "tried": tried}


def main():
    rows = [*OURS, *SLICES]
    options = parse(__doc__, **{"--images": {"nargs": "+"}, "--rows": {"nargs": "+", "choices": rows}})
    full = options.size == "full"
    results = Results("inpainting", options)
    there = (DATA / "standard").exists()
    names = options.images or ((IMAGES if full else ["house", "cameraman"]) if there else ["scene0", "scene1"])
    with tempfile.TemporaryDirectory() as folder:
        table = Table(folder, full)
        for name in names:
            for row in options.rows or (rows if full else ["external", "fruit", "specific", "sbdl-external", "sbdl-mod"]):
                results.part(f"{row}/{name}", lambda: table.ours(row, name) if row in OURS else table.slices(row, name))


if __name__ == "__main__":
    main()
