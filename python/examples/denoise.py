"""Removes noise from an image: by groups of similar patches, patch by patch, and with one pursuit of the whole image."""

from typing import Any, Literal

import lobcod
import numpy as np

SIZE = 96
SIGMA = 20.0


def even(i: Any) -> Any:
    """Numbers from 0 to 1 that look drawn at random: the bits of `i`, mixed."""
    bits = i.astype(np.uint32)
    for _ in range(2):
        bits = (bits >> 16 ^ bits) * np.uint32(0x045D9F3B)
    return (bits >> 16 ^ bits) / np.float64(2**32 - 1)


def noise(i: Any) -> Any:
    """Numbers of a sequence that is nearly normal: four even numbers added up."""
    return (even(4 * i + 1) + even(4 * i + 2) + even(4 * i + 3) + even(4 * i + 4) - 2.0) * np.sqrt(3.0)


image = lobcod.still_life(SIZE).mean(axis=-1)
noisy = image + (SIGMA * noise(np.arange(SIZE * SIZE))).astype(np.float32).reshape(SIZE, SIZE)
print(f"noisy {lobcod.psnr(noisy, image, 255):.2f} dB")
METHODS: tuple[tuple[str, Literal["local", "convolutional"] | None], ...] = (
    ("groups", None),
    ("local", "local"),
    ("convolutional", "convolutional"),
)
for name, method in METHODS:
    clean = lobcod.denoise(noisy, sigma=SIGMA, method=method)
    print(f"{name} {lobcod.psnr(clean, image, 255):.2f} dB")
