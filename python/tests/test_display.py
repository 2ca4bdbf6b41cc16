"""Representations, notebook output, help texts and comparisons."""

import base64
import dataclasses
import io
import pickle
import pydoc
import re
from typing import Any

import lobcod
import numpy as np
import pytest
from lobcod import _html


@pytest.fixture(scope="module")
def things() -> dict[str, Any]:
    """One of each kind of result."""
    grey = lobcod.still_life(32).mean(axis=-1)
    known = np.random.default_rng(0).random(grey.shape) < 0.7
    stream = lobcod.Stream(4, (5, 5), 20).partial_fit(grey).partial_fit(grey)
    return {
        "Codes": lobcod.encode(grey, penalty=20),
        "codes without a report": lobcod.Codes.from_arrays(lobcod.encode(grey, penalty=20).arrays()),
        "Report": lobcod.encode(grey, penalty=20).report,
        "LearnResult": lobcod.learn([grey], 4, (5, 5), 20, passes=3),
        "multichannel signals": lobcod.learn([grey[:4]], 4, 12, 20, passes=2, channel_axis=0),
        "LearnReport": lobcod.learn([grey], 4, (5, 5), 20, passes=3).report,
        "Stream": stream,
        "new stream": lobcod.Stream(),
        "InpaintReport": lobcod.inpaint(grey, known, preset="fast", return_report=True)[1],
        "FuseReport": lobcod.fuse([grey, grey], return_report=True)[1],
        "DenoiseReport": lobcod.denoise(grey, sigma=20, return_report=True)[1],
        "SeparateReport": lobcod.separate(grey, penalty=5, return_report=True)[2],
        "LearnPoint": stream.history[0],
    }


def test_short_forms_fit_in_two_lines(things: dict[str, Any]) -> None:
    for name, thing in things.items():
        text = repr(thing)
        assert len(text) <= 200 and "\n" not in text and "array(" not in text, (name, text)
    assert re.fullmatch(r"<Codes: \d+ non-zeros, 81 atoms, 32x32 image, converged, relative gap .*>", repr(things["Codes"]))
    assert repr(things["Stream"]) == "<Stream: 4 atoms of 5x5, 2 images seen, penalty 20>"


def test_notebooks_show_images(things: dict[str, Any]) -> None:
    for name in ("Codes", "LearnResult", "Stream"):
        page = things[name]._repr_html_()
        image = re.search(r"data:image/png;base64,([^\"]+)", page)
        assert image is not None and base64.b64decode(image[1]).startswith(b"\x89PNG")
        assert "<svg" in page
    assert things["multichannel signals"]._repr_html_().count("<polyline") == 4 * 4 + 1
    assert "<img" in things["codes without a report"]._repr_html_() and "<img" not in things["new stream"]._repr_html_()
    for name in ("Report", "LearnReport", "FuseReport", "DenoiseReport"):
        assert things[name]._repr_html_().startswith("<div><code>&lt;")


def test_images_of_atoms_are_true() -> None:
    images = pytest.importorskip("matplotlib.image")
    for name in ("natural", "natural-rgb-8x8-96"):
        atoms = lobcod.embedded_dictionary(name)
        image = re.search(r"base64,([^\"]+)", _html.atoms_image(atoms))
        assert image is not None
        pixels = images.imread(io.BytesIO(base64.b64decode(image[1])))
        np.testing.assert_allclose(pixels, _html.mosaic(atoms.astype(float)), atol=1 / 255)
    volume = _html.atoms_image(lobcod.random_dictionary(4, (3, 5, 5)), 3)
    assert "<img" in volume and "<svg" in _html.atoms_image(lobcod.random_dictionary(4, 9))


def test_attributes_are_in_help(things: dict[str, Any]) -> None:
    for name in (
        "Codes",
        "Report",
        "LearnResult",
        "LearnReport",
        "InpaintReport",
        "FuseReport",
        "DenoiseReport",
        "SeparateReport",
    ):
        text = pydoc.plain(pydoc.render_doc(getattr(lobcod, name)))
        thing = things[name]
        fields = thing._fields if name == "LearnResult" else [f.name for f in dataclasses.fields(thing)]
        for field in fields:
            assert field.startswith("_") or re.search(rf"\|  {field}\n \|      \S", text), (name, field)
    for cls in (lobcod.Progress, lobcod.HistoryPoint, lobcod.LearnPoint):
        assert "Attributes\n" in (cls.__doc__ or "")


def test_public_names_are_words_of_the_field() -> None:
    for name in lobcod.__all__:
        public = getattr(lobcod, name)
        members = {member for member in dir(public) if not member.startswith("_")} if isinstance(public, type) else set()
        assert not members & {"told", "asked", "given", "heed"}, name


def test_codes_and_reports_can_be_compared(things: dict[str, Any]) -> None:
    grey = lobcod.still_life(32).mean(axis=-1)
    codes = things["Codes"]
    assert codes == lobcod.encode(grey, penalty=20) == things["codes without a report"]
    assert codes != lobcod.encode(grey, penalty=21) and codes != lobcod.encode(grey[:20], penalty=20)
    assert codes != lobcod.encode(grey, penalty=20, base="none") and (codes == 3) is False and codes in [1, codes]
    with pytest.raises(TypeError, match="unhashable"):
        hash(codes)
    for name in ("InpaintReport", "FuseReport", "DenoiseReport", "Report"):
        assert things[name] == pickle.loads(pickle.dumps(things[name])) and things[name] != things["LearnReport"]
