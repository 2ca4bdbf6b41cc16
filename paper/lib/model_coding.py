"""Coding problems of bench_models.py: one objective, and how lobcod and SPORCO solve them.

All have the border `periodic`. An image is a synthetic scene of 64x64 samples less its mean, which leaves a smooth
part that few programs are fast with, or one of 256x256 less its 8x8 local mean, the usual preparation. The smooth
layer needs an image with a smooth part: a scene of half the size, mirrored, so that differences across the border,
which SPORCO penalises and lobcod does not, are 0 at the optimum. Its layer is an atom of one sample without penalty.
"""

import time

import lobcod
import numpy as np

from lib.common import without_mean
from lib.pursuit_peers import Clock
from lib.synthetic import scene

PENALTY = 5.0
SIDES = (64, 256)
RHOS = (1.0, 0.2, 5.0, 0.04, 25.0)
# With a large image: those that were the best with a small one.
LARGE = {"ConvElasticNet": (1.0, 5.0), "ConvMinL1InL2Ball": (25.0,), "ConvBPDNGradReg": (0.2, 0.04)}
TOLERANCES = (0.5, 0.3, 0.2, 0.1, 5e-2, 2e-2, 1e-2, 2e-3)
# Processor seconds after which SPORCO is stopped; five times those after which lobcod gets no lower tolerance.
LIMIT = {64: 5.0, 256: 20.0}

CODING = {
    "plain": {"peer": "ConvBPDN", "penalty": PENALTY},
    "non-negative codes": {"peer": "ConvBPDN", "penalty": PENALTY, "nonnegative": True},
    "weights of coefficients": {"peer": "ConvBPDN", "penalty": PENALTY, "weighted": True},
    "elastic net": {"peer": "ConvElasticNet", "penalty": PENALTY, "elastic": 0.5},
    "joint sparsity, 3 channels": {"peer": "ConvBPDNJoint", "penalty": PENALTY, "joint": PENALTY},
    "joint sparsity without l1, 3 channels": {"peer": "ConvBPDNJoint", "penalty": 0.0, "joint": 2 * PENALTY},
    "smooth layer": {"peer": "ConvBPDNGradReg", "penalty": PENALTY, "layer": 10.0},
    "constrained form": {"peer": "ConvMinL1InL2Ball", "relative_error": 0.1},
    "l1 loss": {"peer": "ConvL1L1Grd", "penalty": 1.0, "loss": "l1"},
}


class Problem:
    """A model with its image (channels, h, w), its atoms and its weights."""

    def __init__(self, model, side):
        self.model = dict(model)
        channels = 3 if "joint" in model else 1
        if "layer" in model:
            half = scene(side // 2, side // 2, 0)
            half = np.concatenate([half, half[::-1]])
            self.image = np.concatenate([half, half[:, ::-1]], axis=1)[None]
        else:
            scenes = [scene(side, side, seed) for seed in range(channels)]
            self.image = np.stack([without_mean(one) if side > SIDES[0] else one - one.mean() for one in scenes])
        generator = np.random.default_rng(0)
        if "loss" in model:
            hit = generator.random(self.image.shape) < 0.05
            self.image = np.where(hit, generator.uniform(-128, 128, self.image.shape), self.image)
        self.atoms = lobcod.cosine_dictionary(36, (8, 8)).astype(float)
        self.size = self.image.shape[1:]
        self.weights = None
        if "weighted" in model:
            self.weights = generator.uniform(0.5, 2.0, (len(self.atoms), *self.size)).astype(np.float32)
        if "relative_error" in model:
            self.model["max_error"] = self.model.pop("relative_error") * float(np.linalg.norm(self.image))
        # Price of a residual above its bound, the multiplier of the constraint; known once lobcod has solved.
        self.price = np.inf
        self.spectra = np.fft.rfft2(self.atoms, self.size)

    def score(self, maps, layer=0.0):
        """The objective of codes (channels, m, h, w) and a layer (h, w)."""
        model = self.model
        made = np.fft.irfft2((self.spectra * np.fft.rfft2(maps)).sum(axis=1), self.size)
        rest = self.image - layer - made
        l1 = np.abs(maps if self.weights is None else self.weights * maps).sum()
        if "max_error" in model:
            above = np.linalg.norm(rest) - model["max_error"]
            return float(l1 + self.price * above) if above > 0 else float(l1)
        term = np.abs(rest).sum() if "loss" in model else 0.5 * np.sum(rest**2)
        term += model["penalty"] * l1
        term += model.get("joint", 0.0) * np.sqrt((maps**2).sum(axis=0)).sum()
        term += 0.5 * model.get("elastic", 0.0) * (maps**2).sum()
        if "layer" in model:
            term += 0.5 * model["layer"] * sum(np.sum(np.diff(layer, axis=axis) ** 2) for axis in (0, 1))
        return float(term)


def code_with_lobcod(problem, tolerance):
    """Seconds and score of codes to this tolerance."""
    names = ("penalty", "joint", "elastic", "nonnegative", "max_error", "loss")
    options = {name: problem.model[name] for name in names if name in problem.model}
    several = len(problem.image) > 1
    image = (problem.image if several else problem.image[0]).astype(np.float32)
    atoms = problem.atoms.astype(np.float32)
    layer = problem.model.get("layer")
    started = time.process_time()
    codes = lobcod.encode(
        image,
        atoms,
        **options,
        weights=problem.weights,
        base=f"joint-smooth:{layer}" if layer else "none",
        border="periodic",
        channel_axis=0 if several else None,
        tolerance=tolerance,
        threads=1,
    )
    seconds = time.process_time() - started
    if "max_error" in problem.model:
        problem.price = problem.model["max_error"] / codes.report.penalty
    maps = codes.to_maps().astype(float).reshape(len(image) if several else 1, len(atoms), *problem.size)
    base = np.asarray(codes.base, dtype=float).reshape(problem.size) if layer else 0.0
    return seconds, problem.score(maps, base)


def code_with_sporco(problem, rho, limit, target):
    """The curve of score against seconds until the target or the limit."""
    import sporco.fft
    from sporco.admm import cbpdn

    sporco.fft.pyfftw_threads = 1
    model = problem.model
    kind = getattr(cbpdn, model["peer"])
    filters = np.moveaxis(problem.atoms, 0, -1).astype(np.float32)
    small = np.moveaxis(problem.image / 255, 0, -1).astype(np.float32)
    common = {
        "Verbose": False,
        "FastSolve": True,
        # ConvL1L1Grd fails with it.
        "HighMemSolve": "loss" not in model,
        "rho": rho,
        "RelaxParam": 1.8,
        "AutoRho": {"Enabled": False},
        "RelStopTol": 0.0,
        "DataType": np.float32,
    }
    if model.get("nonnegative"):
        common["NonNegCoef"] = True
    if problem.weights is not None:
        common["L1Weight"] = np.moveaxis(problem.weights, 0, -1)[:, :, None, None]
    numbers = [model["max_error"] / 255] if "max_error" in model else [model["penalty"] / 255]
    if "loss" in model:
        # The data term scales with the image, as the l1 norm does.
        numbers = [model["penalty"], 0.0]
    if "joint" in model:
        numbers.append(model["joint"] / 255)
    if "elastic" in model:
        numbers.append(model["elastic"])
    count = len(problem.atoms)
    if "layer" in model:
        impulse = np.zeros((*filters.shape[:2], 1), np.float32)
        impulse[0, 0] = 1
        filters = np.concatenate([filters, impulse], axis=-1)
        only = np.zeros(count + 1, np.float32)
        only[-1] = 1
        common["GradWeight"] = only
        common["L1Weight"] = (1 - only).reshape(1, 1, 1, 1, -1)
        numbers.append(model["layer"])

    def solve(iterations, callback=None):
        options = kind.Options({**common, "MaxMainIter": iterations, "Callback": callback})
        kind(filters, small, *numbers, opt=options, dimK=0).solve()

    def score(maps):
        maps = 255.0 * np.moveaxis(maps.reshape(*problem.size, -1, filters.shape[-1]), (2, 3), (0, 1)).astype(float)
        return problem.score(maps[:, :count], maps[0, -1] if "layer" in model else 0.0)

    # Plans the transforms.
    solve(1)
    clock = Clock(score, limit, target)
    solve(1_000_000, lambda solver: clock.tick(solver.getcoef))
    return [(point["seconds"], point["objective"]) for point in clock.curve]


def coding(name, side, within):
    """The curves of both programs on one problem: (seconds, score) of every solver."""
    problem = Problem(CODING[name], side)
    curves = {"lobcod": []}
    for tolerance in TOLERANCES:
        tried = [code_with_lobcod(problem, tolerance)]
        if tried[0][0] < 0.3:
            tried += [code_with_lobcod(problem, tolerance) for _ in range(2)]
        curves["lobcod"].append(min(tried))
        if tried[0][0] > 0.2 * LIMIT[side]:
            break
    target = min(score for _, score in curves["lobcod"]) * (1 + within)
    limit = LIMIT[side]
    for rho in RHOS if side == SIDES[0] else LARGE.get(problem.model["peer"], (1.0, 0.2)):
        curve = code_with_sporco(problem, rho, limit, target)
        curves[f"SPORCO, rho {rho:g}"] = curve
        if curve[-1][1] <= target:
            # A slower one is of no interest.
            limit = min(limit, 1.2 * curve[-1][0])
    return problem.model, curves
