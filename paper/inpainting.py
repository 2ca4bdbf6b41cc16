"""The paper's inpainting table: PSNR on 11 images, 50 % of the pixels missing, lobcod and slice-based learning
(SBDL).

PSNR of the fit, known pixels included, as in the paper. Rows of lobcod: embedded dictionary, one learnt on Fruit,
image-specific (`--learn image`), and with --full `--preset best`; its penalties are chosen by the program, without
the original. Rows of SBDL (crates/lobcod-baselines): the embedded dictionary and the one learnt on Fruit, and
image-specific with K-SVD and MOD from the embedded start; the best of some penalties by the true image, as in the
paper. One thread each.

    python paper/inpainting.py [--quick|--full] [--images house barbara] [--rows external sbdl-external]

Without the reference images: two synthetic scenes, and masks from a fixed seed.
"""

import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from lib import synthetic
from lib.common import DATA, EXAMPLES, Results, lobcod, parse, run, save_image
from lib.titles import IMAGES

# Options of lobcod for its rows; FRUIT stands for atoms learnt on the Fruit images.
OURS = {
    "external": [],
    "fruit": ["--dictionary", "FRUIT"],
    "specific": ["--learn", "image"],
    "best": ["--preset", "best"],
}
# Atoms and method of slice-based learning for its rows.
SLICES = {
    "sbdl-external": ("natural", "outside"),
    "sbdl-fruit": ("FRUIT", "outside"),
    "sbdl-ksvd": ("natural", "ksvd"),
    "sbdl-mod": ("natural", "mod"),
}


class Table:
    def __init__(self, folder, full):
        self.folder, self.full, self.fruit = Path(folder), full, None

    def fruit_atoms(self):
        """81 atoms of 8x8 learnt on the ten Fruit images (synthetic scenes without them)."""
        if self.fruit is None:
            self.fruit = self.folder / "fruit.npz"
            source = [DATA / "fruit"] if (DATA / "fruit").exists() else self.scenes(range(100, 110), 100)
            lobcod("learn", *source, "-o", self.fruit, "--atoms", 81, "--size", "8x8", "--penalty", 40, "--passes", 60)
        return self.fruit

    def scenes(self, seeds, side):
        files = [self.folder / f"scene{seed}.png" for seed in seeds]
        for seed, path in zip(seeds, files):
            save_image(path, synthetic.scene(side, side, seed))
        return files

    def files(self, name):
        """Image and mask."""
        if name.startswith("scene"):
            known = self.folder / "known.png"
            save_image(known, 255 * (np.random.default_rng(0).random((256, 256)) < 0.5))
            return self.scenes([int(name[5:])], 256)[0], known
        image = DATA / "standard" / f"{name}.png"
        return image, DATA / "standard" / "masks" / f"mask50_rng0_{Image.open(image).width}.png"

    def ours(self, row, name):
        image, known = self.files(name)
        words = [self.fruit_atoms() if word == "FRUIT" else word for word in OURS[row]]
        report = lobcod(
            "inpaint",
            image,
            "--known",
            known,
            "-o",
            self.folder / "out.png",
            "--reference",
            image,
            *words,
            timeout=1800,
        )
        return {"psnr_db": report["psnr_db"], "seconds": report["seconds"], "penalty": report["penalty"]}

    def slices(self, row, name):
        image, known = self.files(name)
        atoms, way = SLICES[row]
        atoms = self.fruit_atoms() if atoms == "FRUIT" else atoms
        tried = []
        for penalty in (1, 2, 5) if self.full else (2,):
            output, seconds, _ = run([EXAMPLES / "baseline_inpaint", image, known, penalty, 60, atoms, way], 1800)
            tried.append(
                {"penalty": penalty, "psnr_db": float(output.rsplit("dB,", 1)[0].split()[-1]), "seconds": seconds}
            )
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
            for row in options.rows or (
                rows if full else ["external", "fruit", "specific", "sbdl-external", "sbdl-mod"]
            ):
                results.part(f"{row}/{name}", lambda: table.ours(row, name) if row in OURS else table.slices(row, name))


if __name__ == "__main__":
    main()
