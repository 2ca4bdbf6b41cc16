"""The example widgets for napari, on its own layers where it is installed."""

import importlib.util
from pathlib import Path
from typing import Any

import lobcod
import numpy as np
import pytest


@pytest.fixture(scope="module")
def layers() -> Any:
    return pytest.importorskip("napari.layers")


@pytest.fixture(scope="module")
def widgets() -> Any:
    file = Path(__file__).parent.parent / "examples/gui/napari_widgets.py"
    spec = importlib.util.spec_from_file_location("widgets", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_denoising_makes_a_layer_on_top(layers: Any, widgets: Any, grey: lobcod.Array) -> None:
    noisy = grey + 20 * np.random.default_rng(0).standard_normal(grey.shape).astype(np.float32)
    given = layers.Image(noisy, name="photo", scale=(0.5, 0.5), translate=(3, 4))
    data, attributes, kind = widgets.denoise(given, 20.0)
    new = layers.Layer.create(data, attributes, kind)
    np.testing.assert_array_equal(new.data, lobcod.denoise(noisy, sigma=20))
    assert new.name == "photo without noise of 20" and tuple(new.scale) == (0.5, 0.5) and tuple(new.translate) == (3, 4)


def test_painted_pixels_are_filled(layers: Any, widgets: Any, colour: lobcod.Array) -> None:
    image = colour.astype(np.uint8)
    holes = np.zeros(image.shape[:2], int)
    holes[10:20, 10:14] = 3
    data, attributes, kind = widgets.inpaint(layers.Image(image, rgb=True), layers.Labels(holes))
    new = layers.Layer.create(data, attributes, kind)
    assert new.rgb and np.array_equal(new.data[holes == 0], image[holes == 0])
    np.testing.assert_array_equal(new.data, lobcod.inpaint(image, holes == 0, channel_axis=-1))
