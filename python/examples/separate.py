"""Splits an image into a smooth layer and texture."""

import lobcod
import numpy as np


def size(layer: lobcod.Array) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(layer.astype(float) ** 2)))


image = lobcod.still_life(96).mean(axis=-1)
smooth, texture, report = lobcod.separate(image, penalty=5, return_report=True)
rest = image - smooth - texture
print(f"{report.status} after {report.alternations} turns")
print(f"smooth {size(smooth):.2f}, texture {size(texture):.2f}, left over {size(rest):.2f}")
