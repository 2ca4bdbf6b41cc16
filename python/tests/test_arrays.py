"""Arrays in and out: types, strides, copies."""

import tracemalloc
from collections.abc import Callable

import lobcod
import numpy as np
import pytest
from lobcod._arrays import white_of


def allocated(work: Callable[[], object]) -> int:
    """Peak of additional bytes that numpy and Python allocate during the work."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("layout", ["plain", "strided", "transposed", "fortran", "readonly", "negative"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8, np.uint16])
def test_images_are_read_in_place(dtype: type, layout: str) -> None:
    image: lobcod.Array = np.tile(lobcod.still_life(64).mean(axis=-1), (8, 8)).astype(dtype)
    if layout == "strided":
        image = np.repeat(image, 2, axis=1)[:, ::2]
    elif layout == "transposed":
        image = image.T.copy().T
    elif layout == "fortran":
        image = np.asfortranarray(image)
    elif layout == "readonly":
        image.flags.writeable = False
    elif layout == "negative":
        image = image[::-1].copy()[::-1]
    small = {"relative_penalty": 0.9, "tolerance": 1, "threads": 1, "base": "none"}
    lobcod.encode(image[:32, :32], **small)  # type: ignore[call-overload]
    # A look for NaN takes a byte a pixel; a copy in floating point would take four or eight.
    most = allocated(lambda: lobcod.encode(image, **small))  # type: ignore[call-overload]
    assert most < 2 * image.size


def test_layouts_do_not_change_the_answer(grey: lobcod.Array) -> None:
    plain = lobcod.encode(grey, penalty=20)
    for view in (np.asfortranarray(grey), np.repeat(grey, 3, axis=0)[::3], grey[::-1].copy()[::-1]):
        assert np.array_equal(lobcod.encode(view, penalty=20).value, plain.value)


def test_unaligned_arrays_are_read(grey: lobcod.Array) -> None:
    odd = np.zeros(grey.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(grey.shape)
    odd[:] = grey
    atoms = lobcod.embedded_dictionary()
    odd_atoms = np.zeros(atoms.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(atoms.shape)
    odd_atoms[:] = atoms
    assert not odd.flags.aligned and not odd_atoms.flags.aligned
    assert lobcod.encode(odd, odd_atoms, penalty=20) == lobcod.encode(grey, atoms, penalty=20)


def test_types_give_the_same_numbers(grey: lobcod.Array) -> None:
    whole = np.rint(grey)
    single = lobcod.encode(whole, penalty=20)
    for dtype in (np.uint8, np.uint16, np.int16, np.int32, np.int64, np.float16, ">f4"):
        assert np.array_equal(lobcod.encode(whole.astype(dtype), penalty=20).value, single.value), dtype
    double = lobcod.encode(whole.astype(np.float64), penalty=20)
    assert double.value.dtype == np.float64 and single.value.dtype == np.float32
    assert lobcod.encode(whole, penalty=20, precision="f64").value.dtype == np.float64
    assert np.array_equal(lobcod.encode(whole, penalty=20, precision="f64").value, double.value)


def test_results_are_handed_over_without_a_copy(grey: lobcod.Array) -> None:
    codes = lobcod.encode(grey, penalty=20)
    for array in (codes.value, codes.position, codes.atom):
        # The memory belongs to an object of the extension, not to numpy.
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        assert not owner.flags.owndata and owner.base is not None
    # Four maps of 4 MB each and no copy of them.
    large = lobcod.encode(np.tile(grey, (8, 8)), lobcod.random_dictionary(4, (8, 8)), relative_penalty=0.8)
    assert allocated(large.maps) < 100_000


@pytest.mark.parametrize(("dtype", "white"), [(np.uint8, 255), (np.uint16, 65535), (np.float32, 1.0), (np.float64, 1.0)])
def test_tasks_return_the_type_they_were_given(dtype: type, white: float) -> None:
    image: lobcod.Array = (lobcod.still_life(32) / 255 * white).astype(dtype)
    known = np.random.default_rng(0).random(image.shape[:2]) < 0.6
    damaged = np.where(known[..., None], image, image.dtype.type(0))
    filled = lobcod.inpaint(damaged, known, preset="fast", channel_axis=-1)
    assert filled.dtype == image.dtype and np.array_equal(filled[known], image[known])
    clean = lobcod.denoise(image, sigma=0.05 * white, channel_axis=-1, fit_atoms=False)
    fused = lobcod.fuse([image, image], scale=white, channel_axis=-1)
    for result in (clean, fused):
        assert result.dtype == image.dtype and result.shape == image.shape
        assert lobcod.psnr(result / white, image / white, 1.0) > 20


def test_whole_numbers_are_rounded_and_clipped(grey: lobcod.Array) -> None:
    image = np.where(grey > 120, 255, 0).astype(np.uint8)
    decoded = lobcod.decode(lobcod.encode(image, relative_penalty=0.01))
    assert decoded.dtype == np.uint8 and lobcod.psnr(decoded, image) > 20


@pytest.mark.parametrize("wrong", [np.zeros((8, 8), complex), np.array([["a"]]), np.array([[None]])])
def test_what_is_no_real_number_is_a_type_error(wrong: lobcod.Array) -> None:
    with pytest.raises(TypeError, match="must contain real numbers"):
        lobcod.encode(wrong)


def test_wrong_arguments_name_the_cure(grey: lobcod.Array) -> None:
    wrong: list[tuple[dict[str, object], str]] = [
        ({"penalty": -1}, "the penalty is -1, but must be a number above 0"),
        ({"penalty": 1, "relative_penalty": 0.1}, "remove one"),
        ({"border": "round"}, "the border is round, but must be free, zero, periodic or inside"),
        ({"base": "flat"}, "the base is flat"),
        ({"schedule": "chaos"}, "the schedule is chaos, but must be tiles, layers or needles"),
        ({"local": "guess"}, "the local solver is guess"),
        ({"tolerance": -1}, "the tolerance is -1"),
        ({"time_limit": -2}, "the time limit is -2"),
        ({"precision": "f16"}, "the precision is f16"),
        ({"mask": np.ones((3, 3))}, "they must have the same shape"),
        ({"mask": 2 * np.ones((64, 64))}, "a mask weight is 2"),
        ({"mask": np.zeros((64, 64), bool)}, "at least one must be known"),
        ({"dictionary": np.ones((4, 5))}, "reshape it, or set channel_axis"),
        ({"dictionary": np.zeros((4, 5, 5))}, "atom 0 of the dictionary is all zeros"),
        ({"dictionary": "unnatural"}, "the embedded dictionary is unnatural"),
        ({"dictionary": "natural-rgb-8x8-96"}, "the atoms have 3 channels but the signal has 1"),
        ({"start": "middle"}, "start is middle"),
        ({"atom_weights": [1, 2]}, "there are 2 atom weights for 81 atoms"),
        ({"channel_axis": 4}, "4 is not a valid channel_axis"),
    ]
    for options, sentence in wrong:
        with pytest.raises(ValueError, match=sentence):
            lobcod.encode(grey, **options)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="has an axis of length 0"):
        lobcod.encode(np.zeros((0, 5)))
    with pytest.raises(ValueError, match="1 to 3 axes"):
        lobcod.encode(np.zeros((2, 2, 2, 2)), np.ones((3, 2, 2, 2, 2)))
    with pytest.raises(ValueError, match="inf"):
        lobcod.encode(np.full((9, 9), np.inf))
    with pytest.raises(ValueError, match="at least one must be known"):
        lobcod.encode(np.full((9, 9), np.nan))
    with pytest.raises(TypeError):
        lobcod.encode(grey, penalty=[1])  # type: ignore[call-overload]


def test_atoms_that_are_not_of_unit_norm_are_normalised_with_a_warning(grey: lobcod.Array) -> None:
    atoms = lobcod.embedded_dictionary()
    with pytest.warns(UserWarning, match="81 of the 81 atoms"):
        codes = lobcod.encode(grey, 3 * atoms, penalty=20)
    np.testing.assert_allclose(np.linalg.norm(codes.dictionary.reshape(81, -1), axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(("most", "white"), [(0.9, 1), (1.4, 1), (200.0, 255), (60000.0, 65535), (5.0, 5), (0.0, 255)])
def test_white_of_floats_follows_the_command_line(most: float, white: float) -> None:
    samples = np.linspace(0.0, most, 50)
    assert white_of(samples, samples.dtype) == white
