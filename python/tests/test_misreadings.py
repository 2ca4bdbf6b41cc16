"""Ambiguous input: each case is interpreted correctly, or causes a warning or an error."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lobcod
import numpy as np
import pytest
from lobcod._encode import warn_of_convergence

Work = Callable[..., Any]


@pytest.fixture(scope="module")
def holes() -> lobcod.Array:
    """Missing samples of a 64x64 image."""
    missing: lobcod.Array = np.random.default_rng(3).random((64, 64)) < 0.5
    return missing


def test_masked_arrays_are_masks(grey: lobcod.Array, holes: lobcod.Array) -> None:
    masked = np.ma.masked_array(np.where(holes, 0, grey), holes)
    nan = np.where(holes, np.float32(np.nan), grey)
    np.testing.assert_array_equal(lobcod.inpaint(masked), lobcod.inpaint(nan))
    np.testing.assert_array_equal(lobcod.base_layer(masked), lobcod.base_layer(nan))
    assert np.array_equal(lobcod.encode(masked, penalty=20).value, lobcod.encode(nan, penalty=20).value)
    few = {"atoms": 4, "size": (5, 5), "penalty": 20, "passes": 1}
    for images in (masked, [masked], masked[None]):
        learnt = lobcod.learn(images, **few).dictionary  # type: ignore[arg-type]
        assert np.array_equal(learnt, lobcod.learn([nan], **few).dictionary)  # type: ignore[arg-type]
    stream = lobcod.Stream(4, (5, 5), 20).partial_fit(masked)
    assert np.array_equal(stream.dictionary, lobcod.Stream(4, (5, 5), 20).partial_fit(nan).dictionary)
    whole = np.ma.masked_array(grey, np.zeros_like(holes))
    assert np.array_equal(lobcod.encode(whole, penalty=20).value, lobcod.encode(grey, penalty=20).value)


def test_masked_arrays_with_channels_integers_and_a_mask(colour: lobcod.Array) -> None:
    image = colour.astype(np.uint8)
    missing = np.random.default_rng(0).random(image.shape) < 0.3
    rows = np.ones(image.shape[:2], bool)
    rows[:10] = False
    masked = lobcod.encode(np.ma.masked_array(image, missing), penalty=20, mask=rows, channel_axis=-1)
    plain = lobcod.encode(image, penalty=20, mask=rows[..., None] & ~missing, channel_axis=-1)
    assert np.array_equal(masked.value, plain.value)


@pytest.mark.parametrize(
    "work",
    [
        lambda image: lobcod.denoise(image),
        lambda image: lobcod.separate(image),
        lambda image: lobcod.fuse([image, image]),
        lambda image: lobcod.psnr(image, image, 255),
        lambda image: lobcod.ssim(image, image, 255),
        lambda image: lobcod.encode(image.filled(0), mask=image),
        lambda image: lobcod.encode(image.filled(0), dictionary=image[None, :8, :8]),
        lambda image: lobcod.encode(image.filled(0), penalty_map=image),
        lambda image: lobcod.save_dictionary("unused.npz", image[None]),
    ],
)
def test_masked_values_are_refused_where_nothing_may_be_missing(work: Work, grey: lobcod.Array, holes: lobcod.Array) -> None:
    with pytest.raises(ValueError, match="missing samples|masked values"):
        work(np.ma.masked_array(grey, holes))


def test_rank_one_atoms_of_alphacsc() -> None:
    rng = np.random.default_rng(0)
    u, v = rng.standard_normal((5, 4)), rng.standard_normal((5, 32))
    uv = np.concatenate([u, v], axis=1)
    with pytest.raises(ValueError, match="pass n_channels"):
        lobcod.from_alphacsc(uv)
    outer = u[:, :, None] * v[:, None]
    outer /= np.linalg.norm(outer.reshape(5, -1), axis=1)[:, None, None]
    np.testing.assert_allclose(lobcod.from_alphacsc(uv, n_channels=4), outer)
    np.testing.assert_allclose(lobcod.from_alphacsc(outer, n_channels=4), outer)
    assert lobcod.from_alphacsc(uv, n_channels=1).shape == (5, 35)
    for wrong in (0, 36, -1):
        with pytest.raises(ValueError, match=f"n_channels is {wrong}"):
            lobcod.from_alphacsc(uv, n_channels=wrong)
    with pytest.raises(ValueError, match="has 4 channels"):
        lobcod.from_alphacsc(outer, n_channels=3)


@pytest.mark.parametrize(
    ("theirs", "spatial", "ours"),
    [
        ((9, 7), None, (7, 9)),
        ((9, 7), 1, (7, 9)),
        ((9, 4, 7), 1, (7, 4, 9)),
        ((9, 4, 1, 7), 1, (7, 4, 9)),
        ((5, 4, 7), None, (7, 5, 4)),
        ((5, 4, 3, 7), 2, (7, 3, 5, 4)),
        ((5, 4, 3, 1, 7), 2, (7, 3, 5, 4)),
        ((5, 4, 1, 1, 7), 2, (7, 5, 4)),
        ((5, 4, 6, 7), 3, (7, 5, 4, 6)),
        ((5, 4, 6, 2, 7), 3, (7, 2, 5, 4, 6)),
        ((5, 4, 6, 2, 1, 7), 3, (7, 2, 5, 4, 6)),
    ],
)
def test_layouts_of_sporco(theirs: tuple[int, ...], spatial: int | None, ours: tuple[int, ...]) -> None:
    given = np.random.default_rng(0).standard_normal(theirs)
    atoms = lobcod.from_sporco(given, dimN=spatial)
    assert atoms.shape == ours
    axes = len(ours) - 1 - (spatial or len(theirs) - 1)
    back = lobcod.to_sporco(atoms, dimN=spatial or len(theirs) - 1)
    assert back.shape == (*ours[1 + axes :], *ours[1 : 1 + axes], ours[0])
    scaled = given / np.sqrt((given**2).sum(axis=tuple(range(given.ndim - 1)), keepdims=True))
    np.testing.assert_allclose(back, scaled.reshape(back.shape))


def test_ambiguous_layouts_of_sporco_ask_for_the_argument() -> None:
    for shape in [(5, 4, 3, 7), (5, 4, 3, 1, 7), (5, 4, 3, 2, 1, 7)]:
        with pytest.raises(ValueError, match="pass dimN"):
            lobcod.from_sporco(np.ones(shape))
    for shape, spatial in [((5, 4, 3, 7), 4), ((5, 7), 2), ((5, 4, 3, 2, 7), 1), ((5, 7), 0)]:
        with pytest.raises(ValueError, match=f"dimN is {spatial}"):
            lobcod.from_sporco(np.ones(shape), dimN=spatial)
    with pytest.raises(ValueError, match="that of signals"):
        lobcod.from_sporco(np.ones((5, 4, 3, 2, 7)), dimN=2)
    with pytest.raises(ValueError, match="pass axes"):
        lobcod.to_sporco(np.ones((25, 5, 5, 5)))


def test_axes_of_saved_dictionaries_are_never_guessed_wrongly(tmp_path: Path) -> None:
    file = tmp_path / "atoms.npz"
    for shape, axes in [((7, 9), "mt"), ((7, 8, 8), "mhw"), ((7, 3, 8, 6), "mchw"), ((7, 2, 4, 5, 6), "mcdhw")]:
        lobcod.save_dictionary(file, np.ones(shape))
        assert str(np.load(file)["axes"]) == axes
    for shape, readings in [((25, 4, 32), 'axes="mhw" or "mct"'), ((9, 5, 5, 5), 'axes="mchw" or "mdhw"')]:
        with pytest.raises(ValueError, match=readings):
            lobcod.save_dictionary(file, np.ones(shape))
    lobcod.save_dictionary(file, np.ones((25, 4, 32)), "mct")
    assert str(np.load(file)["axes"]) == "mct"
    with pytest.raises(ValueError, match="2 to 5 axes"):
        lobcod.save_dictionary(file, np.ones(4))


@pytest.mark.filterwarnings("ignore:Setting data_range")
def test_floats_need_a_data_range() -> None:
    first = lobcod.still_life(32)[..., 0] / 255
    second = np.clip(first + 0.05, 0, 1)
    for score in (lobcod.psnr, lobcod.ssim):
        for pair in ((first, second), (first, (255 * second).astype(np.uint8)), (first > 0.5, second)):
            with pytest.raises(ValueError, match="data_range is required"):
                score(*pair)
    assert lobcod.psnr(first, second, data_range=1) == pytest.approx(26, abs=1)
    metrics = pytest.importorskip("skimage.metrics")
    for dtype, white in [(np.uint8, 255), (np.uint16, 65535), (np.int16, 32767)]:
        a, b = ((white * image).astype(dtype) for image in (first, second))
        assert lobcod.psnr(a, b) == pytest.approx(metrics.peak_signal_noise_ratio(b, a), rel=1e-6)
        options = {"gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False}
        assert lobcod.ssim(a, b) == pytest.approx(metrics.structural_similarity(b, a, **options), abs=1e-5)


@pytest.mark.parametrize(
    "work",
    [
        lambda image, **axis: lobcod.encode(image, relative_penalty=0.9, max_sweeps=1, tolerance=1, **axis),
        lambda image, **axis: lobcod.learn(image, 4, (3, 3), relative_penalty=0.5, passes=1, **axis),
        lambda image, **axis: lobcod.separate(image, relative_penalty=0.9, alternations=1, **axis),
        lambda image, **axis: lobcod.inpaint(image, preset="fast", **axis),
        lambda image, **axis: lobcod.base_layer(image, **axis),
    ],
)
def test_colour_without_channel_axis_is_warned_about(work: Work) -> None:
    image = lobcod.still_life(16)
    with pytest.warns(UserWarning, match="channel_axis=-1"):
        work(image)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        work(image, channel_axis=None)
        work(image, channel_axis=-1)
        work(image[:12])
        work(image.repeat(2, axis=2))
        if work.__code__.co_names[1] == "encode":
            lobcod.encode(image, lobcod.cosine_dictionary(8, (2, 2, 2)), relative_penalty=0.9)


def test_results_that_did_not_converge_are_warned_about(grey: lobcod.Array) -> None:
    for limit in ({"max_sweeps": 1}, {"time_limit": 0}):
        with pytest.warns(lobcod.ConvergenceWarning, match="relative gap"):
            codes = lobcod.encode(grey, penalty=0.5, tolerance=1e-6, **limit)  # type: ignore[call-overload]
        assert codes.report.status in ("max_sweeps", "time_limit")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stalled = lobcod.encode(grey, penalty=20, max_nonzeros=1)
    assert stalled.report.status == "stalled"
    # The same end of a convex problem is one.
    with pytest.warns(lobcod.ConvergenceWarning, match="ended at stalled with a relative gap"):
        warn_of_convergence([stalled], {"max_nonzeros": None})


def test_all_passes_done_is_a_status_of_its_own(grey: lobcod.Array) -> None:
    few = {"atoms": 4, "size": (5, 5), "penalty": 20}
    assert lobcod.learn(grey, passes=2, **few).report.status == "completed"  # type: ignore[arg-type]
    assert lobcod.learn(grey, time_limit=0, **few).report.status == "time_limit"  # type: ignore[arg-type]
    assert lobcod.learn(grey, target_objective=1e12, **few).report.status == "converged"  # type: ignore[arg-type]
    turns: dict[str, Any] = {"penalty": 5, "return_report": True}
    assert lobcod.separate(grey, alternations=1, tolerance=0, **turns)[2].status == "completed"
    assert lobcod.separate(grey, alternations=9, tolerance=0.5, **turns)[2].status == "converged"
    assert lobcod.separate(grey, alternations=0, tolerance=0, **turns)[2].status != "completed"
