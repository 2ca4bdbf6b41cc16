"""Synthetic images, for runs without the reference images and for figures that may be redistributed."""

import numpy as np

SCENE = 256


def scene(height, width, seed):
    """Grey, 0..255, whole numbers: a shaded ground, and on it discs and slanted bars that carry stripes, weave or
    nothing."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width] / min(height, width)
    image = 120 + 60 * np.sin(1.5 * x + rng.uniform(0, 6)) * np.cos(1.2 * y + rng.uniform(0, 6))
    for _ in range(24):
        turn, at = (
            rng.uniform(0, np.pi),
            rng.uniform(0, 1, 2) * (width / min(height, width), height / min(height, width)),
        )
        along = np.cos(turn) * (x - at[0]) + np.sin(turn) * (y - at[1])
        across = np.cos(turn) * (y - at[1]) - np.sin(turn) * (x - at[0])
        length, breadth = rng.uniform(0.05, 0.35), rng.uniform(0.03, 0.2)
        inside = (
            (along / length) ** 2 + (across / breadth) ** 2 < 1
            if rng.random() < 0.6
            else (abs(along) < length) & (abs(across) < breadth)
        )
        kind, rate = rng.integers(3), 2 * np.pi * min(height, width) / rng.uniform(5, 12)
        paint = np.full_like(x, rng.uniform(30, 225)) + 40 * along / length
        if kind == 1:
            paint += 35 * np.sin(rate * along)
        elif kind == 2:
            paint += 25 * np.sin(rate * along) * np.sin(0.8 * rate * across)
        image = np.where(inside, paint, image)
    return np.clip(np.round(image), 0, 255)


def stack(height, width, seed, blur):
    """A scene, and two frames of it: one sharp inside a wavy disc, one outside."""
    truth = scene(height, width, seed)
    y, x = np.mgrid[:height, :width]
    turn = np.arctan2(y - height / 2, x - width / 2)
    near = np.hypot(x - width / 2, y - height / 2) < 0.28 * min(height, width) * (1 + 0.15 * np.sin(5 * turn))
    soft = blur(truth)
    return truth, [np.where(near, truth, soft), np.where(near, soft, truth)]


def mosaic(side):
    """Scenes of 256x256 side by side, so that every part of a large image is as hard as a small one."""
    if side <= SCENE:
        return scene(SCENE, SCENE, 0)[:side, :side]
    count = side // SCENE
    scenes = [scene(SCENE, SCENE, seed) for seed in range(min(16, count * count))]
    return np.block([[scenes[(7 * i + j) % len(scenes)] for j in range(count)] for i in range(count)])


def waves(count, side):
    """Unit atoms: windowed waves of all directions and rates, the same for every side but for their size."""
    rng = np.random.default_rng(0)
    y, x = (np.mgrid[:side, :side] + 0.5) / side - 0.5
    turn, rate, phase = rng.uniform(0, np.pi, count), rng.uniform(0.3, 2.5, count), rng.uniform(0, 2 * np.pi, count)
    along = np.cos(turn)[:, None, None] * x + np.sin(turn)[:, None, None] * y
    atoms = np.cos(2 * np.pi * rate[:, None, None] * along + phase[:, None, None]) * np.exp(-4 * (x * x + y * y))
    return atoms / np.linalg.norm(atoms, axis=(1, 2), keepdims=True)
