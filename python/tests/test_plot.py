"""Plots show their input."""

from collections.abc import Iterator

import lobcod
import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def test_atoms() -> None:
    mosaic = np.asarray(lobcod.plot.atoms(lobcod.embedded_dictionary(), columns=10).images[0].get_array())
    assert mosaic.shape == (9 * 9 + 1, 10 * 9 + 1)
    atom = lobcod.embedded_dictionary()[12]
    np.testing.assert_allclose(mosaic[10:18, 19:27], 0.5 + 0.5 * atom / np.abs(atom).max(), atol=1e-6)
    colour = lobcod.plot.atoms(lobcod.embedded_dictionary("natural-rgb-8x8-96")).images[0].get_array()
    assert colour is not None and colour.shape[-1] == 3
    assert len(lobcod.plot.atoms(lobcod.random_dictionary(5, 16)).lines) == 5
    with pytest.raises(ValueError, match="cannot be drawn"):
        lobcod.plot.atoms(np.ones((2, 5, 4, 4)))


def test_atoms_of_several_channels_are_curves() -> None:
    atoms = lobcod.random_dictionary(5, 32, channels=4)
    drawn = lobcod.plot.atoms(atoms)
    assert len(drawn.lines) == 20 and not drawn.images and drawn.get_title() == "5 atoms of 32"
    third = np.asarray(drawn.lines[2].get_ydata())
    np.testing.assert_allclose(third, atoms[2, 0] / (2.2 * np.abs(atoms[2]).max()) - 2, atol=1e-6)
    assert len({line.get_color() for line in drawn.lines}) == 4
    assert len(lobcod.plot.atoms(atoms, axes="mhw").images) == 1
    assert len(lobcod.plot.atoms(lobcod.random_dictionary(5, (4, 5)), axes="mct").lines) == 20
    assert len(lobcod.plot.atoms(lobcod.random_dictionary(5, (4, 5))).images) == 1
    with pytest.raises(ValueError, match="axes is 'chw'"):
        lobcod.plot.atoms(atoms, axes="chw")


def test_images_share_their_grey_levels(grey: lobcod.Array, colour: lobcod.Array) -> None:
    missing = np.where(grey > 100, np.nan, grey)
    figure = lobcod.plot.images(grey, missing, colour.astype(np.uint8), titles=["first", "second"])
    drawn = [np.asarray(ax.images[0].get_array()) for ax in figure.axes]
    np.testing.assert_allclose(drawn[0], grey / 255)
    assert np.array_equal(drawn[1], np.where(grey > 100, 0, drawn[0])) and drawn[2].shape == colour.shape
    assert [ax.get_title() for ax in figure.axes] == ["first", "second", ""]
    half = lobcod.plot.images(grey / 510).axes[0].images[0].get_array()
    np.testing.assert_allclose(np.asarray(half), grey / 510)
    with pytest.raises(ValueError, match="no images"):
        lobcod.plot.images()


def test_codes_and_history(grey: lobcod.Array) -> None:
    codes = lobcod.encode(grey, penalty=20)
    activity = np.asarray(lobcod.plot.codes(codes).images[0].get_array())
    assert activity.sum() == pytest.approx(np.abs(codes.value).sum(), rel=1e-5)
    x, y = lobcod.plot.history(codes).lines[0].get_data()
    assert list(np.asarray(y)) == [point.objective for point in codes.report.history] and np.size(x) == np.size(y)
    learnt = lobcod.learn([grey], 4, (5, 5), 20, passes=3)
    assert np.size(lobcod.plot.history(learnt.report).lines[0].get_xdata()) == 3
    lobcod.plot.codes(lobcod.encode(np.sin(np.arange(50.0))))
    assert len(lobcod.plot.report(codes).axes) >= 6


def test_reports_in_colour_and_without_one(colour: lobcod.Array) -> None:
    codes = lobcod.encode(colour, "natural-rgb-8x8-96", penalty=20, channel_axis=-1)
    lobcod.plot.report(lobcod.Codes.from_arrays(codes.arrays()))
