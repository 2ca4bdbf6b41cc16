"""Models of the pursuit: options of encode, and dense maps."""

from typing import Literal, TypeAlias

import lobcod
import numpy as np
import pytest

Border: TypeAlias = Literal["free", "zero", "periodic", "inside"]


@pytest.fixture(name="image")
def _image() -> np.ndarray:
    return np.asarray(lobcod.still_life(40).mean(axis=-1))


@pytest.mark.parametrize("border", ["free", "zero", "periodic", "inside"])
def test_maps_survive_a_round_trip(image: np.ndarray, border: Border) -> None:
    codes = lobcod.encode(image, penalty=20, border=border)
    again = lobcod.Codes.from_maps(codes.to_maps(), codes.dictionary, border=border, penalty=codes.penalty, base=codes.base)
    assert again.shape == codes.shape
    np.testing.assert_array_equal(again.position, codes.position)
    np.testing.assert_array_equal(again.value, codes.value)
    np.testing.assert_array_equal(again.reconstruct(), codes.reconstruct())
    warm = lobcod.encode(image, penalty=20, border=border, start=again)
    assert warm.report.discovery_sweeps <= 1


def test_maps_of_separately_coded_channels_survive_a_round_trip() -> None:
    codes = lobcod.encode(lobcod.still_life(24), penalty=20, channel_axis=-1)
    again = lobcod.Codes.from_maps(codes.to_maps(), codes.dictionary, channel_axis=-1, base=codes.base)
    np.testing.assert_array_equal(again.reconstruct(), codes.reconstruct())


@pytest.mark.parametrize("border", ["free", "zero", "periodic", "inside"])
def test_sporco_maps_reconstruct_by_circular_convolution(image: np.ndarray, border: Border) -> None:
    codes = lobcod.encode(image, penalty=20, border=border, precision="f64")
    atoms, maps = codes.to_sporco()
    size = maps.shape[:2]
    assert maps.shape[2:] == (1, 1, len(codes.dictionary))
    spectrum = np.fft.fft2(atoms, size, axes=(0, 1)) * np.fft.fft2(maps[:, :, 0, 0], axes=(0, 1))
    texture = np.fft.ifft2(spectrum, axes=(0, 1)).real.sum(axis=-1)
    np.testing.assert_allclose(texture[: image.shape[0], : image.shape[1]], codes.texture(), atol=1e-9)


def test_positions_inside_are_inside(image: np.ndarray) -> None:
    codes = lobcod.encode(image, penalty=20, border="inside")
    assert codes.position.min() >= 0
    assert (codes.position.max(axis=0) <= np.array(image.shape) - 8).all()
    assert codes.maps().shape == (81, 33, 33)


def test_weights_forbid_and_free_coefficients(image: np.ndarray) -> None:
    weights = np.ones((81, 47, 47))
    weights[3:] = np.inf
    codes = lobcod.encode(image, penalty=20, weights=weights)
    assert set(codes.atom) <= {0, 1, 2}
    weights[0, ::12, ::12] = 0
    codes = lobcod.encode(image, penalty=1e6, weights=weights, precision="f64")
    assert codes.report.status == "converged"
    assert set(codes.atom) == {0}
    residual = image - codes.reconstruct()
    patches = np.lib.stride_tricks.sliding_window_view(np.pad(residual, 7), (8, 8))[::12, ::12]
    assert abs(np.einsum("ijhw,hw->ij", patches, codes.dictionary[0])).max() < 1e-6 * abs(image).max()


def test_the_elastic_net_spreads_the_codes(image: np.ndarray) -> None:
    plain, elastic = (lobcod.encode(image, penalty=20, elastic=mu) for mu in (0.0, 2.0))
    assert elastic.report.status == "converged"
    assert abs(elastic.value).max() < abs(plain.value).max()


def test_joint_channels_share_their_support() -> None:
    image = lobcod.still_life(24)
    atoms = lobcod.encode(image[..., 0], penalty=20).dictionary
    codes = lobcod.encode(image, atoms, penalty=0, joint=20, channel_axis=-1, precision="f64", tolerance=1e-6)
    assert codes.report.status == "converged"
    maps = codes.to_maps().reshape(3, -1)
    norms = np.linalg.norm(maps, axis=0)
    assert (np.count_nonzero(maps, axis=0)[norms > 0] == 3).all()
    residual = image - codes.reconstruct()
    objective = 0.5 * np.sum(residual**2) + 20 * norms.sum()
    assert objective == pytest.approx(codes.report.objective, rel=1e-6)
    mixed = lobcod.encode(image, atoms, penalty=10, joint=10, channel_axis=-1)
    assert mixed.report.penalty == 10
    with pytest.raises(ValueError, match="joint sparsity"):
        lobcod.encode(image, atoms, penalty=10, joint=10, elastic=1, channel_axis=-1)


def test_the_cauchy_loss_ignores_outliers(image: np.ndarray) -> None:
    noisy = image.copy()
    noisy[::7, ::5] += 2000
    # Low frequencies, which cannot represent single samples.
    atoms = lobcod.cosine_dictionary(10, (8, 8))
    plain, robust = (lobcod.encode(noisy, atoms, 20, loss=loss, base="none") for loss in ("squares", "cauchy:20"))
    assert plain.report.reweighted is None and robust.report.reweighted is not None
    assert robust.report.status == "converged" and robust.report.reweighted["rounds"] > 1
    errors = [np.linalg.norm(codes.reconstruct() - image) for codes in (plain, robust)]
    assert errors[1] < 0.6 * errors[0]


def test_debiased_codes_fit_better(image: np.ndarray) -> None:
    plain, debiased = (lobcod.encode(image, penalty=20, debias=flag, precision="f64") for flag in (False, True))
    np.testing.assert_array_equal(debiased.position, plain.position)
    assert debiased.report.debiased_data_term is not None
    assert debiased.report.debiased_data_term < plain.report.data_term
    error = 0.5 * np.sum((image - debiased.reconstruct()) ** 2)
    assert error == pytest.approx(debiased.report.debiased_data_term, rel=1e-6)


def test_the_constrained_form_meets_its_bound(image: np.ndarray) -> None:
    codes = lobcod.encode(image, max_error=200, precision="f64", tolerance=1e-2)
    constrained = codes.report.constrained
    assert constrained is not None
    assert codes.report.status == "converged"
    error = np.linalg.norm(image - codes.reconstruct())
    assert error == pytest.approx(constrained["error"], rel=1e-6) and 190 < error <= 200
    assert constrained["l1_norm"] == pytest.approx(abs(codes.value).sum(), rel=1e-6)
    with pytest.raises(ValueError, match="both given"):
        lobcod.encode(image, max_error=200, penalty=3)


def test_the_huber_loss_ignores_impulses(image: np.ndarray) -> None:
    damaged = image.copy()
    damaged[5::9, 4::7] = 1000
    plain, robust = (
        lobcod.encode(damaged, penalty=20, base="none", loss=loss, tolerance=1e-2) for loss in ("squares", "huber:20")
    )
    assert robust.report.status == "converged"
    error = [np.linalg.norm(codes.reconstruct() - image) for codes in (plain, robust)]
    assert error[1] < 0.5 * error[0]


def test_wrong_options_are_refused(image: np.ndarray) -> None:
    with pytest.raises(ValueError, match="the loss"):
        lobcod.encode(image, loss="huber")
    with pytest.raises(ValueError, match="non-negative codes"):
        lobcod.encode(image, loss="l1", nonnegative=True)
    with pytest.raises(ValueError, match="atoms, then positions"):
        lobcod.encode(image, weights=np.ones((81, 40, 40)))
    with pytest.raises(ValueError, match="do not fit"):
        lobcod.Codes.from_maps(np.ones((3, 10, 10)), np.ones((4, 3, 3)))


def test_a_smooth_layer_is_estimated_with_the_codes(image: np.ndarray) -> None:
    mask = np.random.default_rng(0).random(image.shape) < 0.8
    codes = lobcod.encode(image, penalty=20, base="joint-smooth:3", mask=mask, precision="f64", tolerance=1e-6)
    assert codes.report.status == "converged" and codes.base is not None
    residual = mask * (image - codes.reconstruct())
    assert codes.report.data_term == pytest.approx(0.5 * (residual**2).sum(), rel=1e-9)
    slopes = sum((np.diff(codes.base, axis=axis) ** 2).sum() for axis in (0, 1))
    objective = codes.report.data_term + 1.5 * slopes + 20 * np.abs(codes.value).sum()
    assert codes.report.objective == pytest.approx(objective, rel=1e-9)
    # The layer is optimal: its gradient vanishes.
    padded = np.pad(codes.base, 1, mode="edge")
    laplacian = 4 * codes.base - padded[2:, 1:-1] - padded[:-2, 1:-1] - padded[1:-1, 2:] - padded[1:-1, :-2]
    np.testing.assert_allclose(residual, 3 * laplacian, atol=1e-3)
    with pytest.raises(ValueError, match="cannot be combined with debiased codes"):
        lobcod.encode(image, base="joint-smooth", debias=True)
    with pytest.raises(ValueError, match="use encode and its base"):
        lobcod.base_layer(image, "joint-smooth")


def test_mask_weights_above_1_keep_the_units(image: np.ndarray) -> None:
    weights = np.random.default_rng(0).uniform(0.2, 1, image.shape)
    weights[0, 0] = 1
    one = lobcod.encode(image, penalty=20, mask=weights, base="none", precision="f64", tolerance=1e-6)
    many = lobcod.encode(image, penalty=180, mask=3 * weights, base="none", precision="f64", tolerance=1e-6)
    np.testing.assert_allclose(many.value, one.value, rtol=1e-6, atol=1e-6)
    residual = 3 * weights * (image - many.reconstruct())
    objective = 0.5 * (residual**2).sum() + 180 * np.abs(many.value).sum()
    assert many.report.objective == pytest.approx(objective, rel=1e-9)
    assert many.report.penalty == pytest.approx(180)
    with pytest.raises(ValueError, match="the zero border"):
        lobcod.encode(image, mask=3 * weights, base="none", border="zero")
