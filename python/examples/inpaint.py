"""Fills an image with about half of its pixels missing."""

import lobcod
import numpy as np

SIZE = 96

image = lobcod.still_life(SIZE).mean(axis=-1)
y, x = np.mgrid[:SIZE, :SIZE]
known = (y * 31 + x * 17 + (y * x) % 13) % 2 == 0
damaged = np.where(known, image, np.float32(0))
filled, report = lobcod.inpaint(damaged, known, return_report=True)
print(f"{known.sum()} of {known.size} pixels known")
print(f"damaged {lobcod.psnr(damaged, image, 255):.2f} dB")
print(f"filled {lobcod.psnr(filled, image, 255):.2f} dB at penalty {report.penalty:.3f}")
