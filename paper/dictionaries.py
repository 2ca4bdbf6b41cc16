"""The paper's figures of dictionaries side by side, and how similar they are.

The last dictionaries of batch.py and online.py, smooth atoms first; and for every pair of learners the mean over
atoms of the best correlation with an atom of the other, up to sign and a shift of two pixels: 1 if one holds the
other's atoms. That of two random dictionaries is printed too, as the floor.

    python paper/dictionaries.py
"""

import numpy as np

from lib.common import Results, parse
from lib.pursuit_peers import SIDE
from lib.titles import BATCH, ONLINE

SHIFT = 2
COLUMNS = 9


def shifted(atoms):
    """All copies moved by up to SHIFT pixels, of unit norm, (copies, m, 64)."""
    padded = np.pad(atoms, ((0, 0), (SHIFT, SHIFT), (SHIFT, SHIFT)))
    copies = [
        padded[:, i : i + SIDE, j : j + SIDE].reshape(len(atoms), -1)
        for i in range(2 * SHIFT + 1)
        for j in range(2 * SHIFT + 1)
    ]
    return np.stack([copy / np.maximum(np.linalg.norm(copy, axis=1, keepdims=True), 1e-12) for copy in copies])


def similarity(one, other):
    """Mean over the atoms of both of the best correlation with an atom of the other."""
    best = np.abs(np.einsum("kn,smn->skm", one.reshape(len(one), -1), shifted(other))).max(axis=0)
    back = np.abs(np.einsum("kn,smn->skm", other.reshape(len(other), -1), shifted(one))).max(axis=0)
    return float((best.max(axis=1).mean() + back.max(axis=1).mean()) / 2)


def mosaic(atoms):
    """Atoms in a square, smoothest first, each stretched to its own range."""
    variation = [np.abs(np.diff(a, axis=0)).sum() + np.abs(np.diff(a, axis=1)).sum() for a in atoms]
    cells = np.full((COLUMNS * (SIDE + 1) + 1,) * 2, 0.0)
    for place, atom in enumerate(atoms[np.argsort(variation)][: COLUMNS**2]):
        top, left = (1 + (SIDE + 1) * n for n in divmod(place, COLUMNS))
        cells[top : top + SIDE, left : left + SIDE] = 0.5 + atom / (2 * np.abs(atom).max())
    return cells


def draw(found, titles, file):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    columns = min(5, len(found))
    rows = -(-len(found) // columns)
    figure, axes = pyplot.subplots(rows, columns, figsize=(2.6 * columns, 2.9 * rows), squeeze=False)
    for axis in axes.flat:
        axis.axis("off")
    for axis, (name, atoms) in zip(axes.flat, found.items()):
        axis.imshow(mosaic(atoms), cmap="gray", interpolation="nearest")
        axis.set_title(titles[name], fontsize=7)
    figure.tight_layout()
    figure.savefig(file, dpi=110)


def main():
    results = Results("dictionaries", parse(__doc__))
    results.again = True
    random = lambda seed: np.random.default_rng(seed).standard_normal((81, SIDE, SIDE))
    unit = lambda atoms: atoms / np.linalg.norm(atoms, axis=(1, 2), keepdims=True)
    for name, titles in (("batch", BATCH), ("online", ONLINE)):
        path = results.file(f"{name}-atoms.npz")
        if not path.exists():
            continue
        kept = np.load(path)
        found = {key: unit(kept[key].astype(np.float64)) for key in titles if key in kept}
        draw(found, titles, results.file(f"{name}-dictionaries.png"))
        pairs = lambda: {
            "similarity": {
                one: {other: round(similarity(found[one], found[other]), 3) for other in found} for one in found
            },
            "random": round(similarity(unit(random(1)), unit(random(2))), 3),
        }
        results.part(name, pairs)


if __name__ == "__main__":
    main()
