"""Batch and online learning."""

import pickle
from typing import Any

import lobcod
import numpy as np
import pytest


def stripes(angle: float, seed: int, side: int = 40) -> lobcod.Array:
    y, x = np.mgrid[:side, :side]
    image: lobcod.Array = np.sin(1.1 * (x * np.cos(angle) + y * np.sin(angle)) + seed).astype(np.float32)
    return image


@pytest.mark.parametrize("method", ["atomwise", "stochastic", "batch"])
def test_learning_beats_its_first_atoms(grey: lobcod.Array, method: Any) -> None:
    first = lobcod.random_dictionary(12, (6, 6))
    learnt, report = lobcod.learn([grey], atoms=12, size=(6, 6), penalty=20, method=method, passes=6)
    before = lobcod.encode(grey, first, 20).report.objective
    after = lobcod.encode(grey, learnt, 20).report.objective
    assert after < 0.9 * before and after == pytest.approx(report.objective, rel=2e-3)
    assert report.passes == 6 == len(report.history) and report.history[-1].objective < report.history[0].objective
    np.testing.assert_allclose(np.linalg.norm(learnt.reshape(12, -1), axis=1), 1, atol=1e-4)


def test_ways_to_give_images(grey: lobcod.Array) -> None:
    options = {"atoms": 4, "size": (5, 5), "penalty": 20, "passes": 2}
    one = lobcod.learn([grey], **options).dictionary  # type: ignore[arg-type]
    assert np.array_equal(lobcod.learn(grey, **options).dictionary, one)  # type: ignore[arg-type]
    assert np.array_equal(lobcod.learn(grey[None], **options).dictionary, one)  # type: ignore[arg-type]
    mixed = lobcod.learn([grey, grey[:20, :33]], **options)  # type: ignore[arg-type]
    assert mixed.report.pixels == 64 * 64 + 20 * 33
    assert lobcod.learn(grey.astype(float), **options).dictionary.dtype == np.float64  # type: ignore[arg-type]
    assert lobcod.learn(grey.astype(np.uint8), **options).dictionary.dtype == np.float32  # type: ignore[arg-type]


def test_first_atoms_channels_and_axes(colour: lobcod.Array) -> None:
    assert lobcod.learn([colour], 5, (4, 4), passes=1, channel_axis=-1).dictionary.shape == (5, 3, 4, 4)
    for init in ("patches", "dct", lobcod.random_dictionary(5, (4, 4))):
        assert lobcod.learn([colour[..., 0]], 5, (4, 4), passes=1, init=init).dictionary.shape == (5, 4, 4)
    assert lobcod.learn([colour[:, 5, 0]], 5, 9, passes=1).dictionary.shape == (5, 9)
    assert lobcod.learn([colour[:16, :16, 0].reshape(4, 8, 8)], 5, (2, 3, 3), passes=1).dictionary.shape == (5, 2, 3, 3)


def test_masks_hide_samples(grey: lobcod.Array) -> None:
    known = np.random.default_rng(0).random(grey.shape) < 0.7
    options = {"atoms": 4, "size": (5, 5), "penalty": 20, "passes": 2}
    masked = lobcod.learn([np.where(known, grey, 1e6)], masks=[known], **options)  # type: ignore[arg-type]
    nan = lobcod.learn([np.where(known, grey, np.nan)], **options)  # type: ignore[arg-type]
    assert np.array_equal(masked.dictionary, nan.dictionary)


def test_wrong_arguments(grey: lobcod.Array) -> None:
    for options, sentence in [
        ({"method": "luck"}, "the method is luck"),
        ({"step": "adam"}, 'require method="stochastic"'),
        ({"method": "stochastic", "step": "giant"}, "the step is giant"),
        ({"method": "stochastic", "decay": "slow"}, "the decay is slow"),
        ({"passes": 0}, "the number of passes is 0"),
        ({"init": "magic"}, "init is magic"),
        ({"size": 8}, "the atoms have 1 axes"),
        ({"masks": []}, "got 0 masks for 1 images"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            lobcod.learn([grey], **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="there are no images"):
        lobcod.learn([])
    with pytest.raises(ValueError, match="no detail"):
        lobcod.learn([np.ones((20, 20))])


def test_checkpoints(grey: lobcod.Array, tmp_path: object) -> None:
    file = f"{tmp_path}/run.npz"
    options = {"atoms": 6, "size": (5, 5), "penalty": 20}
    whole = lobcod.learn([grey], passes=6, **options)  # type: ignore[arg-type]
    lobcod.learn([grey], passes=3, checkpoint=file, **options)  # type: ignore[arg-type]
    resumed = lobcod.learn([grey], passes=6, resume=file, **options)  # type: ignore[arg-type]
    assert np.array_equal(resumed.dictionary, whole.dictionary) and len(resumed.report.history) == 6


def test_a_stream_follows_its_images_and_survives_pickling() -> None:
    stream = lobcod.Stream(atoms=6, size=(6, 6), penalty=0.4, seed=1, base="none", stream_memory=4)
    with pytest.raises(ValueError, match="has seen no image"):
        _ = stream.dictionary
    pickle.loads(pickle.dumps(stream))
    for seed in range(4):
        stream.partial_fit(stripes(0.3, seed))
    upright = stream.dictionary
    copy = pickle.loads(pickle.dumps(stream))
    assert np.array_equal(copy.dictionary, upright) and copy.history == stream.history and copy.penalty == 0.4
    for seed in range(4):
        stream.partial_fit(stripes(1.9, seed))
        copy.partial_fit(stripes(1.9, seed))
    assert np.array_equal(copy.dictionary, stream.dictionary)
    test = stripes(1.9, 50)
    before, after = (lobcod.encode(test, d, 0.4, base="none").report.objective for d in (upright, stream.dictionary))
    assert after < 0.7 * before
