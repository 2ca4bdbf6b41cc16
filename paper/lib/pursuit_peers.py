"""The peers of bench_pursuit.py, the objective they are evaluated by and the clock they are timed with."""

import sys
import time

import numpy as np
from scipy import ndimage, sparse

SIDE = 8
OVERHANG = SIDE - 1
STRIP = 64
# The fastest of the FFT lengths tried from h + 14 on; 114 and 526 themselves have large prime factors.
FFT_LENGTHS = {100: 120, 512: 528, 1024: 1050, 2048: 2080}


class Objective:
    """1/2 ||signal - synthesis||^2 + penalty ||codes||_1 in float64, and its duality gap.

    Codes are a sparse matrix with a row for each (image, row, column) of the (h+7) x (w+7) positions."""

    def __init__(self, signals, atoms, penalty, border, known=None):
        self.atoms = atoms.reshape(len(atoms), -1).astype(np.float64)
        self.penalty, self.border = penalty, border
        around = ((0, 0), (OVERHANG, OVERHANG), (OVERHANG, OVERHANG))
        self.known = None if known is None else np.pad(np.broadcast_to(known, signals.shape), around)
        self.target = np.pad(signals, around)
        if known is not None:
            self.target *= self.known
        self.grid = tuple(np.add(signals.shape, (0, OVERHANG, OVERHANG)))

    def residual(self, codes):
        images, rows, columns = self.grid
        residual = self.target.copy()
        for image in range(images):
            for top in range(0, rows, STRIP):
                height = min(STRIP, rows - top)
                first = (image * rows + top) * columns
                patches = codes[first : first + height * columns] @ self.atoms
                patches = patches.reshape(height, columns, SIDE, SIDE)
                for i in range(SIDE):
                    for j in range(SIDE):
                        residual[image, top + i : top + i + height, j : j + columns] -= patches[:, :, i, j]
        if self.border == "free":
            blank_overhang(residual)
        if self.known is not None:
            residual *= self.known
        return residual

    def value(self, codes):
        return 0.5 * np.sum(self.residual(codes) ** 2) + self.penalty * np.abs(codes.data).sum(dtype=np.float64)

    def reach(self, residual):
        """The largest correlation with an atom at every position, in units of the penalty."""
        windows = np.lib.stride_tricks.sliding_window_view(residual, (SIDE, SIDE), axis=(1, 2))
        strips = (strip for image in windows for strip in np.array_split(image, 1 + len(image) // STRIP))
        largest = [np.abs(strip.reshape(-1, SIDE * SIDE) @ self.atoms.T).max(axis=1) for strip in strips]
        return np.concatenate(largest).reshape(self.grid) / self.penalty

    def gap(self, codes):
        """Primal less dual at the residual scaled into the dual's feasible set: by a field that is small around
        positions whose correlation exceeds the penalty and smooth, then by one number for what still exceeds it."""
        residual = self.residual(codes)
        around = ((0, 0), (OVERHANG, 0), (OVERHANG, 0))
        excess = np.pad(np.maximum(self.reach(residual), 1.0), around, constant_values=1.0)
        field = 1.0 / ndimage.maximum_filter(excess, (1, 4 * SIDE, 4 * SIDE))
        field = ndimage.gaussian_filter(field, (0, SIDE, SIDE))
        scaled = field * residual
        scaled /= max(1.0, self.reach(scaled).max())
        dual = 0.5 * np.sum(self.target**2) - 0.5 * np.sum((self.target - scaled) ** 2)
        return self.value(codes) - dual


def blank_overhang(padded):
    """Zero everything outside the image, in place."""
    for axis in (1, 2):
        swapped = np.swapaxes(padded, 1, axis)
        swapped[:, :OVERHANG] = 0
        swapped[:, -OVERHANG:] = 0


def cut(block):
    """(images, rows, columns) into flat 8x8 patches side by side."""
    images, rows, columns = block.shape
    return block.reshape(images, rows // SIDE, SIDE, columns // SIDE, SIDE).swapaxes(2, 3).reshape(-1, SIDE * SIDE)


def join(patches, shape):
    """The inverse of `cut`."""
    images, rows, columns = shape
    return patches.reshape(images, rows // SIDE, columns // SIDE, SIDE, SIDE).swapaxes(2, 3).reshape(shape)


class Clock:
    """A curve of objective against CPU seconds; the clock stops while a point is evaluated."""

    def __init__(self, evaluate, limit, target):
        self.evaluate, self.limit, self.target = evaluate, limit, target
        self.curve, self.iteration, self.next, self.paused = [], 0, 1, 0.0
        self.started = time.process_time()

    def tick(self, codes):
        """Called after each iteration with a function giving the codes; True when the run is over."""
        now = time.process_time()
        seconds = now - self.started - self.paused
        self.iteration += 1
        over = seconds > self.limit
        if self.iteration >= self.next or over:
            self.next = int(np.ceil(self.iteration * 1.02))
            self.curve.append({"seconds": seconds, "objective": self.evaluate(codes())})
            over = over or self.curve[-1]["objective"] <= self.target
        self.paused += time.process_time() - now
        return over


class LayeredLobcod:
    """Local block coordinate descent: for each of the 64 layers of disjoint patches, a LARS for every needle.

    The residual is blanked outside the image after each layer, so needles cut by the border share the one Gram."""

    def __init__(self, signals, atoms, penalty, lasso):
        self.lasso = lasso
        self.dictionary = np.asfortranarray(atoms.reshape(len(atoms), -1).T, dtype=np.float32)
        self.gram = np.asfortranarray(self.dictionary.T @ self.dictionary)
        self.penalty = penalty
        self.residual = np.pad(signals, ((0, 0), (OVERHANG, OVERHANG), (OVERHANG, OVERHANG))).astype(np.float32)
        self.grid = np.add(signals.shape, (0, OVERHANG, OVERHANG))
        images, rows, columns = self.grid
        self.offsets = [(i, j) for i in range(SIDE) for j in range(SIDE)]
        self.counts = [(-(-(rows - i) // SIDE), -(-(columns - j) // SIDE)) for i, j in self.offsets]
        self.needles = [None] * len(self.offsets)
        self.parts = [np.zeros((images * down * across, SIDE * SIDE), np.float32) for down, across in self.counts]

    def sweep(self, order):
        for layer in order:
            (i, j), (down, across) = self.offsets[layer], self.counts[layer]
            block = self.residual[:, i : i + down * SIDE, j : j + across * SIDE]
            patches = cut(block) + self.parts[layer]
            correlations = np.asfortranarray((patches @ self.dictionary).T)
            needles = self.lasso(patches.T, Q=self.gram, q=correlations, lambda1=self.penalty, mode=2, numThreads=1)
            part = np.asarray(needles.T @ self.dictionary.T)
            block -= join(part - self.parts[layer], block.shape)
            blank_overhang(self.residual)
            self.needles[layer], self.parts[layer] = needles, part

    def codes(self):
        images, rows, columns = self.grid
        position = np.arange(images * rows * columns).reshape(self.grid)
        entries = [needles.tocoo() for needles in self.needles]
        places = [position[:, i::SIDE, j::SIDE].ravel()[entry.col] for (i, j), entry in zip(self.offsets, entries)]
        return sparse.csr_matrix(
            (
                np.concatenate([entry.data for entry in entries]),
                (np.concatenate(places), np.concatenate([entry.row for entry in entries])),
            ),
            shape=(position.size, self.dictionary.shape[1]),
        )


def run_spams(signals, atoms, penalty, start_clock):
    import spams

    generator = np.random.default_rng(0)
    clock = start_clock()
    solver = LayeredLobcod(signals, atoms, penalty, spams.lasso)
    while True:
        solver.sweep(generator.permutation(SIDE * SIDE))
        if clock.tick(solver.codes):
            return clock


def run_sporco(signals, atoms, penalty, start_clock, known=None):
    import sporco.fft
    from sporco.admm.cbpdn import ConvBPDN, ConvBPDNMaskDcpl

    sporco.fft.pyfftw_threads = 1
    images, rows, columns = np.add(signals.shape, (0, OVERHANG, OVERHANG))
    lengths = [FFT_LENGTHS[size] for size in signals.shape[1:]]
    scale = 255.0
    padded = np.zeros((*lengths, images), np.float32)
    padded[OVERHANG:rows, OVERHANG:columns] = np.moveaxis(signals / scale, 0, -1)
    filters = np.ascontiguousarray(np.moveaxis(atoms, 0, -1), dtype=np.float32)
    weights = np.full((*lengths, 1, 1, 1), 1e3, np.float32)
    weights[:rows, :columns] = 1

    def solve(iterations, callback=None):
        options = {
            "MaxMainIter": iterations,
            "Callback": callback,
            "rho": 5.0,
            "RelaxParam": 1.8,
            "L1Weight": weights,
            "AutoRho": {"Enabled": False},
            "FastSolve": True,
            "HighMemSolve": True,
            "DataType": np.float32,
        }
        if known is None:
            ConvBPDN(filters, padded, penalty / scale, ConvBPDN.Options(options), dimK=1).solve()
            return
        mask = np.zeros((*lengths, 1, 1, 1), np.float32)
        mask[OVERHANG:rows, OVERHANG:columns, 0, 0, 0] = known
        ConvBPDNMaskDcpl(filters, padded, penalty / scale, mask, ConvBPDNMaskDcpl.Options(options), dimK=1).solve()

    def codes(maps):
        maps = np.moveaxis(maps[:rows, :columns, 0], 2, 0)
        image, row, column, atom = np.nonzero(maps)
        values = scale * maps[image, row, column, atom].astype(np.float64)
        return sparse.csr_matrix(
            (values, ((image * rows + row) * columns + column, atom)), shape=(images * rows * columns, len(atoms))
        )

    solve(1)
    clock = start_clock()
    solve(sys.maxsize, lambda solver: clock.tick(lambda: codes(solver.getcoef())))
    return clock


def run_sporco_masked(signals, atoms, penalty, start_clock, known):
    return run_sporco(signals, atoms, penalty, start_clock, known)
