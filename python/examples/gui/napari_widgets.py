"""Widgets for napari: denoise the selected image, or fill in the pixels that a labels layer marks.

Needs ``pip install "napari[all]" lobcod``. Run ``python napari_widgets.py IMAGE`` to open an image with both widgets docked.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import lobcod
import numpy as np

if TYPE_CHECKING:
    from napari.layers import Image, Labels

LayerData = tuple[Any, dict[str, Any], str]
"""Samples, attributes and kind of a new layer, as napari takes them."""


def denoise(image: Image, sigma: float = 0.0) -> LayerData:
    """Remove Gaussian noise of standard deviation `sigma`; 0 estimates it."""
    clean, report = lobcod.denoise(
        image.data, "gaussian", sigma=sigma or None, channel_axis=-1 if image.rgb else None, return_report=True
    )
    return clean, attributes(image, f"{image.name} without noise of {report.noise_level:.3g}"), "image"


def inpaint(image: Image, holes: Labels) -> LayerData:
    """Fill in the pixels that are painted in a labels layer."""
    filled = lobcod.inpaint(image.data, np.asarray(holes.data) == 0, channel_axis=-1 if image.rgb else None)
    return filled, attributes(image, f"{image.name} filled"), "image"


def attributes(image: Image, name: str) -> dict[str, Any]:
    """Return a name, and what places a new layer on top of the given one."""
    shared: dict[str, Any] = {"name": name, "rgb": image.rgb, "scale": image.scale, "translate": image.translate}
    return shared if image.rgb else {**shared, "contrast_limits": image.contrast_limits, "colormap": image.colormap}


def main() -> None:
    """Open a viewer with both widgets."""
    import napari
    from magicgui import magicgui
    from napari.layers import Image, Labels
    from napari.types import LayerDataTuple

    viewer = napari.Viewer()
    if len(sys.argv) > 1:
        viewer.open(sys.argv[1])
    for work, layers in ((denoise, {"image": Image}), (inpaint, {"image": Image, "holes": Labels})):
        # The layers are chosen from those in the viewer, the result becomes a layer.
        work.__annotations__.update(layers, **{"return": LayerDataTuple})
        work.__annotations__.update({"sigma": float} if work is denoise else {})
        viewer.window.add_dock_widget(magicgui(work, call_button=work.__name__.capitalize()), name=work.__name__)
    napari.run()


if __name__ == "__main__":
    main()
