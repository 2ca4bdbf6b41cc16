"""Shared test images."""

import lobcod
import numpy as np
import pytest


@pytest.fixture(scope="session")
def grey() -> lobcod.Array:
    """A greyscale image, 64x64, float32, 0 to 255."""
    return np.asarray(lobcod.still_life(64).mean(axis=-1))


@pytest.fixture(scope="session")
def colour() -> lobcod.Array:
    """A colour image, 48x48x3, float32, 0 to 255."""
    return lobcod.still_life(48)
