"""The pursuit, checked against sums computed here from the codes alone."""

from typing import Any

import lobcod
import numpy as np
import pytest


def synthesis(codes: lobcod.Codes) -> lobcod.Array:
    """The sum of the atoms of a grey image, code by code."""
    h, w = codes.dictionary.shape[1:]
    rows, columns = codes.shape
    padded = np.zeros((rows + 2 * h - 2, columns + 2 * w - 2))
    for (y, x), k, value in zip(codes.position, codes.atom, codes.value):
        padded[y + h - 1 : y + 2 * h - 1, x + w - 1 : x + 2 * w - 1] += float(value) * codes.dictionary[k].astype(float)
    return padded[h - 1 : h - 1 + rows, w - 1 : w - 1 + columns]


def largest_correlation(residual: lobcod.Array, dictionary: lobcod.Array) -> float:
    """The largest correlation of an atom with a patch of the residual, zeros beyond its edge."""
    h, w = dictionary.shape[1:]
    padded = np.pad(residual, ((h - 1, h - 1), (w - 1, w - 1)))
    patches = np.lib.stride_tricks.sliding_window_view(padded, (h, w))
    return float(np.abs(np.einsum("yxij,kij->kyx", patches, dictionary.astype(float))).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_certificate_is_true(grey: lobcod.Array, dtype: type) -> None:
    image: lobcod.Array = grey.astype(dtype)
    codes = lobcod.encode(image, "natural", penalty=20)
    report = codes.report
    assert codes.base is not None
    residual = image.astype(float) - codes.base - synthesis(codes)
    data_term = 0.5 * (residual**2).sum()
    objective = data_term + 20 * np.abs(codes.value.astype(float)).sum()
    assert report.objective == pytest.approx(objective, rel=1e-5)
    assert report.data_term == pytest.approx(data_term, rel=1e-4)
    scale = min(1.0, 20 / largest_correlation(residual, codes.dictionary))
    target = image.astype(float) - codes.base
    dual = scale * (residual * target).sum() - 0.5 * scale**2 * (residual**2).sum()
    assert 0 <= objective - dual <= 1.1e-3 * objective
    assert report.status == "converged" and report.relative_gap <= 1e-3
    assert report.precision == ("f64" if dtype is np.float64 else "f32")


def test_a_penalty_at_penalty_max_gives_zero_and_a_warning(grey: lobcod.Array) -> None:
    low = lobcod.encode(grey, penalty=20).report
    with pytest.warns(UserWarning, match="penalty_max"):
        codes = lobcod.encode(grey, penalty=1.001 * low.penalty_max)
    assert len(codes) == 0
    assert len(lobcod.encode(grey, penalty=0.9 * low.penalty_max)) > 0
    assert lobcod.encode(grey, relative_penalty=0.5).penalty == pytest.approx(0.5 * low.penalty_max)


def test_maps_and_matrix_agree_with_the_codes(grey: lobcod.Array) -> None:
    codes = lobcod.encode(grey, penalty=20)
    maps = codes.maps()
    assert maps.shape == (81, 71, 71) == (81, *codes.position_shape)
    y, x = (codes.position + 7).T
    assert np.array_equal(maps[codes.atom, y, x], codes.value) and np.count_nonzero(maps) == len(codes)
    assert np.array_equal(codes.to_scipy().toarray(), maps.reshape(81, -1).T)


def test_the_reconstruction_is_the_sum_of_the_atoms(grey: lobcod.Array) -> None:
    codes = lobcod.encode(grey, penalty=20)
    assert codes.base is not None
    np.testing.assert_allclose(codes.texture(), synthesis(codes), atol=2e-3)
    np.testing.assert_allclose(codes.reconstruct(), synthesis(codes) + codes.base, atol=2e-3)
    assert np.array_equal(lobcod.decode(codes), codes.reconstruct())


@pytest.mark.parametrize("border", ["free", "zero", "periodic"])
def test_borders_in_float64(grey: lobcod.Array, border: Any) -> None:
    image = grey[:24, :31].astype(float)
    codes = lobcod.encode(image, lobcod.random_dictionary(9, (5, 4)), penalty=30, border=border, tolerance=1e-9, base="none")
    assert codes.report.relative_gap <= 1e-9
    assert codes.position_shape == ((24, 31) if border == "periodic" else (28, 34))
    assert codes.maps().shape == (9, *codes.position_shape)


def test_every_schedule_and_local_solver_reaches_the_same_objective(grey: lobcod.Array) -> None:
    image, atoms = grey[:30, :30].astype(float), lobcod.random_dictionary(6, (4, 4), precision="f64")
    options = [{}, {"schedule": "layers"}, {"schedule": "needles"}, {"local": "lars"}, {"start": "spread"}, {"tile": 8}]
    found = [lobcod.encode(image, atoms, 25, tolerance=1e-8, **o).report.objective for o in options]  # type: ignore[arg-type]
    np.testing.assert_allclose(found, found[0], rtol=2e-8)


def test_threads_do_not_change_a_bit(colour: lobcod.Array) -> None:
    one, two = (lobcod.encode(colour, penalty=15, channel_axis=-1, threads=n) for n in (1, 2))
    assert np.array_equal(one.value, two.value) and np.array_equal(one.position, two.position)


def test_masks_and_nan_hide_samples(grey: lobcod.Array) -> None:
    known = np.random.default_rng(1).random(grey.shape) < 0.7
    masked = lobcod.encode(np.where(known, grey, 1e9), penalty=20, mask=known)
    nan = lobcod.encode(np.where(known, grey, np.float32(np.nan)), penalty=20)
    weights = lobcod.encode(grey, penalty=20, mask=known.astype(float))
    whole_numbers = lobcod.encode(grey, penalty=20, mask=255 * known.astype(np.uint8))
    for other in (nan, weights, whole_numbers):
        assert np.array_equal(masked.value, other.value) and np.array_equal(masked.position, other.position)


def test_weights_caps_and_signs(grey: lobcod.Array) -> None:
    image = grey[:32, :32]
    free = lobcod.encode(image, penalty=20)
    assert lobcod.encode(image, penalty=20, nonnegative=True).value.min() > 0 > free.value.min()
    capped = lobcod.encode(image, penalty=20, max_nonzeros=1)
    assert np.unique(capped.position, axis=0).shape[0] == len(capped)
    heavy = np.ones(81)
    heavy[free.atom[0]] = 1e6
    assert free.atom[0] not in lobcod.encode(image, penalty=20, atom_weights=heavy).atom
    halved = lobcod.encode(image, penalty=40, penalty_map=np.full(image.shape, 0.5))
    assert halved.report.objective == pytest.approx(free.report.objective, rel=2e-3)
    none_above = np.zeros((39, 39))
    none_above[20:] = 1
    assert lobcod.encode(image, penalty=20, max_nonzeros=none_above).position[:, 0].min() >= 20 - 7


def test_a_warm_start_needs_less(grey: lobcod.Array) -> None:
    first = lobcod.encode(grey, penalty=20, tolerance=1e-4)
    again = lobcod.encode(grey, penalty=20, tolerance=1e-3, start=first)
    assert again.report.discovery_sweeps < first.report.discovery_sweeps
    assert again.report.objective == pytest.approx(first.report.objective, rel=1e-3)


def test_channels_signals_and_volumes(colour: lobcod.Array) -> None:
    by_channel = lobcod.encode(colour, penalty=20, channel_axis=-1)
    assert by_channel.maps().shape == (3, 81, 55, 55)
    assert by_channel.reconstruct().shape == colour.shape
    alone = lobcod.encode(colour[..., 1], penalty=20)
    np.testing.assert_array_equal(by_channel.value[by_channel.channel == 1].size > 0, True)
    assert abs((by_channel.channel == 1).sum() - len(alone)) < 0.1 * len(alone)
    joint = lobcod.encode(np.moveaxis(colour, -1, 0), "natural-rgb-8x8-96", penalty=20, channel_axis=0)
    assert joint.maps().shape == (96, 55, 55) and joint.reconstruct().shape == (3, 48, 48)
    signal = lobcod.encode(np.sin(0.3 * np.arange(200.0)), relative_penalty=0.1)
    assert signal.dictionary.shape == (17, 16) and signal.report.status == "converged"
    volume = lobcod.encode(np.random.default_rng(0).random((9, 10, 11)), relative_penalty=0.2)
    assert volume.dictionary.shape == (216, 5, 5, 5) and volume.position_shape == (13, 14, 15)


def test_limits(grey: lobcod.Array) -> None:
    with pytest.warns(lobcod.ConvergenceWarning, match="max_sweeps"):
        assert lobcod.encode(grey, penalty=0.5, tolerance=0, max_sweeps=1).report.status == "max_sweeps"
    large = lobcod.still_life(256).mean(axis=-1)
    with pytest.warns(lobcod.ConvergenceWarning, match="time_limit"):
        assert lobcod.encode(large, penalty=0.1, tolerance=0, time_limit=0.05).report.status == "time_limit"
    with pytest.raises(MemoryError, match="the limit is"):
        lobcod.encode(grey, penalty=20, max_memory=1000)


def test_checkpoints(grey: lobcod.Array, tmp_path: object) -> None:
    file = f"{tmp_path}/run.npz"
    whole = lobcod.encode(grey, penalty=2, tolerance=1e-6)
    with pytest.warns(lobcod.ConvergenceWarning):
        stopped = lobcod.encode(grey, penalty=2, tolerance=1e-6, max_sweeps=3, checkpoint=file)
    assert stopped.report.status == "max_sweeps"
    resumed = lobcod.encode(grey, penalty=2, tolerance=1e-6, resume=file)
    assert np.array_equal(resumed.value, whole.value) and resumed.report.discovery_sweeps == whole.report.discovery_sweeps
    with pytest.raises(ValueError, match="other signals"):
        lobcod.encode(grey + 1, penalty=3, resume=file)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        lobcod.encode(grey, penalty=2, resume=f"{tmp_path}/none.npz")


def test_auto_without_a_gpu_uses_the_cpu(grey: lobcod.Array, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    codes = lobcod.encode(grey, "natural", penalty=20, engine="auto")
    assert codes.report.engine == "cpu"
    np.testing.assert_array_equal(codes.value, lobcod.encode(grey, "natural", penalty=20).value)
