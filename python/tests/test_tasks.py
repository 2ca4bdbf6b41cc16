"""Inpainting, fusion, denoising, separation."""

from collections.abc import Iterator
from typing import Any, Literal

import lobcod
import numpy as np
import pytest


def blurred(image: lobcod.Array) -> lobcod.Array:
    shifts = range(-2, 3)
    return sum((np.roll(image, (y, x), (0, 1)) for y in shifts for x in shifts), np.zeros_like(image)) / 25


def test_inpainting_fills_and_keeps(grey: lobcod.Array) -> None:
    known = np.random.default_rng(0).random(grey.shape) < 0.5
    damaged = np.where(known, grey, 0)
    filled, report = lobcod.inpaint(damaged, known, return_report=True)
    assert np.array_equal(filled[known], grey[known])
    assert lobcod.psnr(filled, grey, 255) > lobcod.psnr(lobcod.base_layer(damaged, known=known), grey, 255)
    assert report.status == "converged" and report.penalty > 0 and report.held_out_samples > 0
    assert sum(answer["weight"] for answer in report.answers) == pytest.approx(1)
    assert not np.array_equal(report.fit[known], grey[known])
    refit = lobcod.inpaint(damaged, known, refit_known=True)
    np.testing.assert_array_equal(refit, report.fit)
    hidden = lobcod.inpaint(np.where(known, grey, np.nan))
    np.testing.assert_array_equal(hidden, filled)


def test_wide_holes_are_filled_with_copies_on_request() -> None:
    y, x = np.mgrid[:96, :96]
    image = np.where((y % 12 < 2) | (x % 12 < 2), 40.0, 180.0 + (x * 7 + y * 13) % 5)
    known = (y - 48) ** 2 + (x - 48) ** 2 > 14**2
    model = lobcod.inpaint(image, known, fill="model")
    copied = lobcod.inpaint(image, known, fill="copy")
    assert np.array_equal(model, lobcod.inpaint(image, known))
    assert np.abs(copied - image)[~known].mean() < 0.5 * np.abs(model - image)[~known].mean()


def test_inpainting_learns_on_the_image(grey: lobcod.Array) -> None:
    known = np.random.default_rng(0).random(grey.shape) < 0.5
    _, report = lobcod.inpaint(grey, known, learn="image", variants=1, windows=[1], penalty="auto", return_report=True)
    assert report.dictionary is None or report.dictionary.shape == (81, 8, 8)
    assert any(answer["learnt"] for answer in report.answers)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"preset": "slow"}, "the preset is slow"),
        ({"learn": "much"}, "learn is much"),
        ({"penalty": "low"}, "the penalty is low"),
        ({"held_out": 0.9}, "the fraction of samples held out is 0.9"),
    ]
    for options, sentence in wrong:
        with pytest.raises(ValueError, match=sentence):
            lobcod.inpaint(grey, known, **options)


def test_an_image_without_holes_comes_back(grey: lobcod.Array) -> None:
    assert np.array_equal(lobcod.inpaint(grey), grey)


def test_fusion_takes_what_is_sharp(grey: lobcod.Array) -> None:
    left = np.arange(64) < 32
    frames = [np.where(left, grey, blurred(grey)), np.where(left, blurred(grey), grey)]
    fused, report = lobcod.fuse(frames, return_report=True)
    assert lobcod.psnr(fused, grey, 255) > max(lobcod.psnr(frame, grey, 255) for frame in frames) + 5
    assert report.decision.shape == grey.shape and set(np.unique(report.decision)) == {0, 1}
    assert report.decision[:, :28].mean() < 0.3 < 0.7 < report.decision[:, 36:].mean()
    assert report.crop == (0, 0, 64, 64) and len(report.motions) == 2
    codes = lobcod.fuse(frames, fuse_base="average")
    assert lobcod.psnr(codes, grey, 255) > 25


def test_fusion_takes_painted_pixels_from_the_named_frame(grey: lobcod.Array) -> None:
    left = np.arange(64) < 32
    frames = [np.where(left, grey, blurred(grey)), np.where(left, blurred(grey), grey)]
    usual = lobcod.fuse(frames, align="none")
    decision = np.full(grey.shape, np.nan)
    assert np.array_equal(lobcod.fuse(frames, align="none", decision=decision), usual)
    decision[:, :22] = 1
    fused, report = lobcod.fuse(frames, align="none", decision=decision, return_report=True)
    assert np.all(report.decision[:, :22] == 1) and not np.array_equal(fused, usual)
    assert np.allclose(fused[:, 6], frames[1][:, 6], atol=0.5) and np.array_equal(fused[:, 40:], usual[:, 40:])
    with pytest.raises(ValueError, match="names frame 2, but there are 2 frames"):
        lobcod.fuse(frames, align="none", decision=np.full(grey.shape, 2))


class Lazy:
    """Frames that are generated on access."""

    def __init__(self, frames: list[lobcod.Array]) -> None:
        self.frames, self.reads = frames, 0

    def __len__(self) -> int:
        return len(self.frames)

    def __getitem__(self, i: int) -> lobcod.Array:
        self.reads += 1
        return self.frames[i]

    def __iter__(self) -> Iterator[lobcod.Array]:
        raise AssertionError("frames are read one by one")


def test_frames_are_read_one_by_one(grey: lobcod.Array) -> None:
    frames = Lazy([grey, blurred(grey)])
    fused = lobcod.fuse(frames)  # type: ignore[call-overload]
    assert np.array_equal(fused, lobcod.fuse(frames.frames)) and frames.reads >= 4


def test_exposures(colour: lobcod.Array) -> None:
    frames = [np.clip(colour * gain, 0, 255).astype(np.uint8) for gain in (0.4, 1.0, 2.0)]
    fused = lobcod.fuse(frames, "exposure", channel_axis=-1)
    assert fused.shape == colour.shape and frames[0].mean() < fused.mean() < frames[2].mean()


def test_wrong_frames(grey: lobcod.Array) -> None:
    for frames, sentence in [
        ([grey], "two or more frames"),
        ([grey, grey[:30]], "differ in shape"),
        ([grey, np.where(grey > 100, np.nan, grey)], "frame 1 has missing samples"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            lobcod.fuse(frames)
    with pytest.raises(ValueError, match="the mode is blend, but must be auto, focus or exposure"):
        lobcod.fuse([grey, grey], "blend")  # type: ignore[call-overload]


def test_a_shift_is_warned_about_and_mended() -> None:
    large = lobcod.still_life(160).mean(axis=-1)
    frames = [large[10:130, 10:130], large[14:134, 13:133]]
    with pytest.warns(UserWarning, match="try align"):
        lobcod.fuse(frames, align="none")
    automatic = lobcod.fuse(frames, return_report=True)[1]
    assert automatic.mode == "focus" and automatic.largest_motion == pytest.approx(5, abs=0.5)
    fused, report = lobcod.fuse(frames, align="shift", return_report=True)
    assert fused.shape == report.decision.shape != frames[0].shape
    assert report.largest_motion == pytest.approx(5, abs=0.5)


def test_the_mode_follows_from_the_frames(grey: lobcod.Array) -> None:
    dark, bright = 0.4 * grey, np.clip(1.6 * grey, 0, 255)
    assert lobcod.fuse([dark, bright], return_report=True)[1].mode == "exposure"
    with pytest.raises(ValueError, match="do not show the same scene"):
        lobcod.fuse([grey, np.rot90(grey[: min(grey.shape), : min(grey.shape)])[: grey.shape[0], : grey.shape[1]]])


@pytest.mark.parametrize("method", ["local", "convolutional"])
def test_denoising(grey: lobcod.Array, method: Literal["local", "convolutional"]) -> None:
    noisy = grey + 20 * np.random.default_rng(0).standard_normal(grey.shape)
    clean, report = lobcod.denoise(noisy, sigma=20, method=method, return_report=True)
    assert lobcod.psnr(clean, grey, 255) > lobcod.psnr(noisy, grey, 255) + 2
    assert (report.pursuit is not None) == (method == "convolutional") and report.noise_level == 20
    np.testing.assert_array_equal(lobcod.denoise(noisy, "gaussian:20", method=method), clean)
    estimated = lobcod.denoise(noisy, method=method, return_report=True)[1].noise_level
    assert 15 < estimated < 30


def test_a_stack_is_denoised_as_a_whole(grey: lobcod.Array) -> None:
    stack = np.stack([np.roll(grey, shift, axis=1) for shift in range(4)])
    noisy = stack + 20 * np.random.default_rng(0).standard_normal(stack.shape)
    clean = lobcod.denoise(noisy, sigma=20)
    slices = np.stack([lobcod.denoise(image, sigma=20) for image in noisy])
    assert clean.shape == stack.shape
    assert lobcod.psnr(clean, stack, 255) > lobcod.psnr(slices, stack, 255) + 0.5
    with pytest.raises(ValueError, match="groups of similar patches only"):
        lobcod.denoise(noisy, sigma=20, preset="fast")


@pytest.mark.parametrize(("name", "largest"), [("camera", 0.024), ("brick", 0.026), ("grass", 0.04), ("gravel", 0.045)])
def test_the_noise_of_tiny_textured_images_is_not_greatly_overestimated(name: str, largest: float) -> None:
    data, transform = pytest.importorskip("skimage.data"), pytest.importorskip("skimage.transform")
    image = transform.resize(getattr(data, name)() / 255, (64, 64), anti_aliasing=True)
    noisy = image + 0.02 * np.random.default_rng(0).standard_normal(image.shape)
    level = lobcod.denoise(noisy, "gaussian", preset="fast", return_report=True)[1].noise_level
    assert 0.016 < level < largest


def test_noise_is_detected_by_default_at_any_scale(grey: lobcod.Array) -> None:
    rng = np.random.default_rng(0)
    white = rng.standard_normal(grey.shape).astype(np.float32)
    for scale in (255.0, 1.0):
        image = grey * (scale / 255)
        noisy = image + 0.1 * scale * white
        clean, report = lobcod.denoise(noisy, return_report=True)
        assert report.noise in ("gaussian", "mixed")
        assert lobcod.psnr(clean, image, scale) > lobcod.psnr(noisy, image, scale) + 3
        unchanged, report = lobcod.denoise(image, return_report=True)
        assert report.noise == "none" and np.array_equal(unchanged, image)
    spoilt = np.where(rng.random(grey.shape) < 0.1, rng.choice([0.0, 255.0], grey.shape), grey)
    assert lobcod.denoise(spoilt, return_report=True)[1].noise == "impulse"


def test_a_level_alone_determines_the_model_and_wrong_ones_are_refused(grey: lobcod.Array) -> None:
    noisy = grey + 20 * np.random.default_rng(0).standard_normal(grey.shape).astype(np.float32)
    fast: Any = {"preset": "fast"}
    for noise, levels in (("gaussian:20", {"sigma": 20}), ("poisson:2", {"gain": 2}), ("mixed:2.0,5", {"gain": 2, "sigma": 5})):
        named = lobcod.denoise(np.abs(noisy), noise, **fast)
        np.testing.assert_array_equal(named, lobcod.denoise(np.abs(noisy), **levels, **fast))  # type: ignore[call-overload]
        kind = noise.partition(":")[0]
        np.testing.assert_array_equal(named, lobcod.denoise(np.abs(noisy), kind, **levels, **fast))  # type: ignore[call-overload]
    weak = lobcod.denoise(noisy, sigma=20, strength=0.5, **fast)
    np.testing.assert_array_equal(weak, lobcod.denoise(noisy, sigma=10, **fast))
    with pytest.raises(ValueError, match="gain cannot be given for the noise gaussian, which takes sigma"):
        lobcod.denoise(noisy, "gaussian", gain=2)
    with pytest.raises(ValueError, match="sigma cannot be given for the noise gaussian:20"):
        lobcod.denoise(noisy, "gaussian:20", sigma=10)
    with pytest.raises(ValueError, match="the strength is 0"):
        lobcod.denoise(noisy, strength=0)


def test_other_noises(grey: lobcod.Array) -> None:
    rng = np.random.default_rng(0)
    counts = rng.poisson(grey / 4).astype(float)
    assert lobcod.psnr(4 * lobcod.denoise(counts, "poisson"), grey, 255) > lobcod.psnr(4 * counts, grey, 255) + 2
    hit = rng.random(grey.shape) < 0.1
    spoilt = np.where(hit, rng.choice([0.0, 255.0], grey.shape), grey)
    assert lobcod.psnr(lobcod.denoise(spoilt, "impulse:0.2"), grey, 255) > lobcod.psnr(spoilt, grey, 255) + 5
    for noise in ("snow", "gaussian:", "gaussian:a", "mixed:1", "poisson:1,2"):
        if noise != "gaussian:":
            with pytest.raises(ValueError, match="the noise is"):
                lobcod.denoise(grey, noise)
    with pytest.raises(ValueError, match="missing samples"):
        lobcod.denoise(np.full((20, 20), np.nan))


def test_separation(grey: lobcod.Array) -> None:
    smooth, texture, report = lobcod.separate(grey.astype(float), penalty=5, return_report=True)
    rest = grey - smooth - texture
    gradient = sum((np.diff(smooth, axis=axis) ** 2).sum() for axis in (0, 1))
    assert report.objective > 0.5 * (rest**2).sum() + 2.5 * gradient
    assert (np.diff(smooth) ** 2).sum() < 0.5 * (np.diff(grey) ** 2).sum()
    assert smooth.dtype == np.float64 and report.alternations >= 1
