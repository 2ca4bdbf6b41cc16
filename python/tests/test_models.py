"""Constraints on codes and atoms in learning."""

import lobcod
import numpy as np
import pytest


@pytest.fixture
def recording() -> lobcod.Array:
    """Two sources with fixed weights on ten channels, active at random times."""
    generator = np.random.default_rng(0)
    time = np.arange(16)
    waves = np.stack([np.sin(2 * np.pi * time / 16), np.sin(2 * np.pi * time / 5)]) * np.hanning(16)
    weights = generator.normal(size=(2, 10))
    activity = (generator.random((2, 585)) < 0.02) * generator.uniform(1, 3, (2, 585))
    recording: lobcod.Array = sum(
        np.outer(weights[k], np.convolve(activity[k], waves[k])) for k in range(2)
    ) + 0.02 * generator.normal(size=(10, 600))
    return recording


def test_atoms_satisfy_the_constraints(recording: lobcod.Array) -> None:
    result = lobcod.learn(
        [recording], 3, 16, channel_axis=0, base="none", passes=6, rank=1, zero_mean=True, window="tukey:0.3", sort="variance"
    )
    assert result.u.shape == (3, 10) and result.v.shape == (3, 16)
    np.testing.assert_allclose(result.u[:, :, None] * result.v[:, None], result.dictionary, atol=1e-12)
    np.testing.assert_allclose(result.dictionary.sum(axis=-1), 0, atol=1e-12)
    assert not result.dictionary[..., 0].any() and not result.dictionary[..., -1].any()
    free = lobcod.learn([recording], 3, 16, channel_axis=0, base="none", passes=2)
    with pytest.raises(ValueError, match="learn with rank=1"):
        _ = free.u


def test_frozen_atoms_stay_and_growth_reaches_the_number(recording: lobcod.Array) -> None:
    given = lobcod.random_dictionary(2, 16)
    result = lobcod.learn([recording[0]], 3, 16, freeze=given, grow=True, base="none", passes=6)
    assert result.dictionary.shape == (5, 16)
    np.testing.assert_allclose(result.dictionary[:2], given, atol=1e-6)
    with pytest.raises(ValueError, match="pass the size of the frozen ones"):
        lobcod.learn([recording[0]], 3, 12, freeze=given)
    stream = lobcod.Stream(3, 16, freeze=given, base="none", zero_mean=True).partial_fit(recording[0])
    np.testing.assert_allclose(stream.dictionary[:2], given, atol=1e-6)
    np.testing.assert_allclose(stream.dictionary[2:].sum(axis=1), 0, atol=1e-12)


def test_nonnegative_everywhere(recording: lobcod.Array) -> None:
    model = lobcod.ConvolutionalDictionaryLearning(n_components=3, size=16, max_iter=4, nonnegative=True)
    codes = model.fit_transform(recording)
    assert codes.nnz > 10 and codes.min() >= 0
    assert model.partial_fit(recording).transform(recording).min() >= 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rank": 2}, "the rank is 2"),
        ({"window": "hann"}, "tukey:ALPHA"),
        ({"grow": True, "passes": 2}, "number of passes is 2"),
        ({"rank": 1}, "several channels"),
    ],
)
def test_wrong_constraints_are_refused(recording: lobcod.Array, options: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        lobcod.learn([recording[0]], 3, 16, **options)  # type: ignore[arg-type]


def test_atoms_of_several_sizes_keep_them() -> None:
    image = lobcod.still_life(40).mean(axis=-1)
    result = lobcod.learn([image], size=[((4, 4), 3), ((6, 7), 2)], penalty=20, passes=4)
    assert result.dictionary.shape == (5, 6, 7)
    small, large = result.dictionary[:3], result.dictionary[3:]
    assert not small[:, 4:].any() and not small[:, :, 4:].any()
    assert small[:, 3].any() and large[:, 5].any() and large[:, :, 6].any()
    with pytest.raises(ValueError, match="remove atoms"):
        lobcod.learn([image], 7, size=[((4, 4), 3), ((6, 7), 2)])
    with pytest.raises(ValueError, match="different numbers of axes"):
        lobcod.learn([image], size=[((4, 4), 3), (6, 2)])  # type: ignore[arg-type]


def test_a_smooth_layer_is_learnt_with_the_atoms(recording: lobcod.Array) -> None:
    drift = recording[0] + 20 * np.sin(np.arange(600) / 90)
    learnt = lobcod.learn([drift], 2, 16, base="joint-smooth", init="patches", passes=6, relative_penalty=0.1)
    assert learnt.report.objective <= learnt.report.history[0].objective
    with pytest.raises(NotImplementedError, match="never estimates smooth layers"):
        lobcod.Stream(2, 16, base="joint-smooth").partial_fit(drift)
    with pytest.raises(ValueError, match="cannot hold layers"):
        lobcod.ConvolutionalDictionaryLearning(n_components=2, size=16, base="joint-smooth").fit(recording)


def test_a_number_of_atoms_that_contradicts_the_sizes_is_refused() -> None:
    image = lobcod.still_life(32).mean(axis=-1)
    sizes = [((4, 4), 2), ((6, 6), 3)]
    with pytest.raises(ValueError, match="atoms is 81, but size has 5 atoms"):
        lobcod.learn([image], 81, sizes, passes=1)
    for atoms in (None, 5):
        assert len(lobcod.learn([image], atoms, sizes, passes=1).dictionary) == 5
    assert len(lobcod.learn([image], size=(4, 4), passes=1).dictionary) == 81
