"""The learners that batch.py and online.py compare lobcod with. Each hands `snapshot` its atoms (m, 8, 8) after every
pass and stops when that returns True."""

import sys

import numpy as np

from lib.pursuit_peers import SIDE, LayeredLobcod, blank_overhang, cut, join

SCALE = 255.0


class StochasticLobcod(LayeredLobcod):
    """Algorithm 2 on one image: LARS for a layer of needles, then a step on the dictionary."""

    def layer_gradient(self, layer):
        (i, j), (down, across) = self.offsets[layer], self.counts[layer]
        block = self.residual[:, i : i + down * SIDE, j : j + across * SIDE]
        part = (
            np.zeros_like(self.parts[layer])
            if self.needles[layer] is None
            else np.asarray(self.needles[layer].T @ self.dictionary.T)
        )
        patches = cut(block) + part
        correlations = np.asfortranarray((patches @ self.dictionary).T)
        needles = self.lasso(patches.T, Q=self.gram, q=correlations, lambda1=self.penalty, mode=2, numThreads=1)
        block[:] = join(patches - np.asarray(needles.T @ self.dictionary.T), block.shape)
        blank_overhang(self.residual)
        self.needles[layer] = needles
        return -np.asarray((needles @ cut(block)).T)

    def set_dictionary(self, dictionary, gram):
        self.dictionary, self.gram = dictionary, gram

    def synthesise(self, padded):
        """Recompute the residual with the present dictionary."""
        self.residual = padded.copy()
        for layer, needles in enumerate(self.needles):
            if needles is not None:
                (i, j), (down, across) = self.offsets[layer], self.counts[layer]
                block = self.residual[:, i : i + down * SIDE, j : j + across * SIDE]
                block -= join(np.asarray(needles.T @ self.dictionary.T), block.shape)
        blank_overhang(self.residual)


def spams(signals, first, penalty, snapshot):
    """The paper's batch schedule: Adam (one second moment for the whole gradient) for 30 epochs, then momentum."""
    import spams as library

    generator = np.random.default_rng(0)
    images = [StochasticLobcod(signal[None], first, penalty, library.lasso) for signal in signals]
    padded = [image.residual.copy() for image in images]
    dictionary = images[0].dictionary
    mean, square, velocity, step = 0.0, 0.0, np.zeros_like(dictionary), 0
    for epoch in range(sys.maxsize):
        for image in generator.permutation(len(images)):
            images[image].set_dictionary(dictionary, np.asfortranarray(dictionary.T @ dictionary))
            images[image].synthesise(padded[image])
            for layer in generator.permutation(SIDE * SIDE):
                gradient = images[image].layer_gradient(layer)
                if epoch < 30:
                    step += 1
                    mean = 0.9 * mean + 0.1 * gradient
                    square = 0.999 * square + 0.001 * float(np.sum(np.square(gradient, dtype=np.float64)))
                    scale = 0.02 / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
                    dictionary = dictionary - scale * mean / (1 - 0.9**step)
                else:
                    velocity = 0.8 * velocity + 1e-7 * gradient
                    dictionary = dictionary - velocity
                dictionary = np.asfortranarray(dictionary / np.linalg.norm(dictionary, axis=0), dtype=np.float32)
                images[image].set_dictionary(dictionary, np.asfortranarray(dictionary.T @ dictionary))
        if snapshot(dictionary.T.reshape(-1, SIDE, SIDE)):
            return


def filters(solver):
    atoms = np.moveaxis(np.asarray(solver.getdict()).reshape(SIDE, SIDE, -1), -1, 0)
    return atoms / np.linalg.norm(atoms, axis=(1, 2), keepdims=True)


def sporco_consensus(signals, first, penalty, snapshot, rho=5.0, rho_dictionary=10.0):
    """SPORCO's hybrid consensus learner (Garcia-Cardona and Wohlberg), images in 0..1."""
    import sporco.fft
    from sporco.dictlrn.prlcnscdl import ConvBPDNDictLearn_Consensus as Learner

    sporco.fft.pyfftw_threads = 1
    options = Learner.Options(
        {
            "Verbose": False,
            "MaxMainIter": 10**9,
            "CBPDN": {"rho": rho},
            "CCMOD": {"rho": rho_dictionary},
            "Callback": lambda solver: snapshot(filters(solver)),
        }
    )
    images = np.moveaxis(signals, 0, -1).astype(np.float32) / SCALE
    start = np.moveaxis(first, 0, -1).astype(np.float32)
    Learner(start, images, penalty / SCALE, options, nproc=0, dimK=1).solve()


def sporco_admm(signals, first, penalty, snapshot, rho=5.0, rho_dictionary=10.0):
    """SPORCO's ConvBPDNDictLearn, ADMM for codes and consensus ADMM for the dictionary, images in 0..1."""
    import sporco.fft
    from sporco.dictlrn.cbpdndl import ConvBPDNDictLearn as Learner

    sporco.fft.pyfftw_threads = 1
    fixed = {"Enabled": False}
    options = Learner.Options(
        {
            "Verbose": False,
            "MaxMainIter": 10**9,
            "Callback": lambda s: snapshot(filters(s)),
            "CBPDN": {"rho": rho, "AutoRho": fixed},
            "CCMOD": {"rho": rho_dictionary, "AutoRho": fixed},
        },
        xmethod="admm",
        dmethod="cns",
    )
    images = np.moveaxis(signals, 0, -1).astype(np.float32) / SCALE
    start = np.moveaxis(first, 0, -1).astype(np.float32)
    Learner(start, images, penalty / SCALE, options, xmethod="admm", dmethod="cns", dimK=1).solve()


def padded_with_mask(signals):
    """Images with room for the overhang of an atom, and the mask that leaves it free: the border `free` for
    SPORCO."""
    images, rows, columns = signals.shape
    padded = np.zeros((rows + SIDE, columns + SIDE, images), np.float32)
    padded[:rows, :columns] = np.moveaxis(signals, 0, -1)
    mask = np.zeros((rows + SIDE, columns + SIDE), np.float32)
    mask[:rows, :columns] = 1
    return padded, mask


def sporco_masked(signals, first, penalty, snapshot, rho=5.0, rho_dictionary=10.0):
    """SPORCO's ConvBPDNMaskDictLearn (Wohlberg 2016, mask decoupling), border free, images in 0..1."""
    import sporco.fft
    from sporco.dictlrn.cbpdndlmd import ConvBPDNMaskDictLearn as Learner

    sporco.fft.pyfftw_threads = 1
    fixed = {"Enabled": False}
    options = Learner.Options(
        {
            "Verbose": False,
            "MaxMainIter": 10**9,
            "Callback": lambda s: snapshot(filters(s)),
            "CBPDN": {"rho": rho, "AutoRho": fixed},
            "CCMOD": {"rho": rho_dictionary, "AutoRho": fixed},
        },
        xmethod="admm",
        dmethod="cns",
    )
    padded, mask = padded_with_mask(signals / SCALE)
    start = np.moveaxis(first, 0, -1).astype(np.float32)
    Learner(
        start, padded, penalty / SCALE, mask[:, :, None, None, None], options, xmethod="admm", dmethod="cns", dimK=1
    ).solve()


def sporco_online(signals, first, penalty, snapshot, masked=False):
    """SPORCO's online learner (Liu et al.), one image after the other, signals as they are."""
    import sporco.fft
    from sporco.dictlrn import onlinecdl

    sporco.fft.pyfftw_threads = 1
    Learner = onlinecdl.OnlineConvBPDNMaskDictLearn if masked else onlinecdl.OnlineConvBPDNDictLearn
    pursuit = {
        "rho": 5.0,
        "AutoRho": {"Enabled": False},
        "MaxMainIter": 30,
        "RelStopTol": 0.0,
        "FastSolve": True,
        "DataType": np.float32,
    }
    options = Learner.Options({"Verbose": False, "DataType": np.float32, "CBPDN": pursuit, "eta_a": 10.0, "eta_b": 5.0})
    learner = Learner(np.moveaxis(first, 0, -1).astype(np.float32), penalty, options)
    generator = np.random.default_rng(0)
    padded, mask = padded_with_mask(signals)
    while True:
        for image in generator.permutation(len(signals)):
            if masked:
                learner.solve(padded[..., image], mask)
            else:
                learner.solve(signals[image].astype(np.float32))
            if snapshot(filters(learner)):
                return


def sporco_online_masked(signals, first, penalty, snapshot):
    """The same with the border left free by a mask."""
    sporco_online(signals, first, penalty, snapshot, masked=True)
