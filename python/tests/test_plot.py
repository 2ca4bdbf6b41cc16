"""Plots: that they show what they are given."""

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
