"""Fills a picture of which every other pixel or so is missing."""

import lobcod
import numpy as np

SIZE = 96

picture = lobcod.still_life(SIZE).mean(axis=-1)
y, x = np.mgrid[:SIZE, :SIZE]
known = (y * 31 + x * 17 + (y * x) % 13) % 2 == 0
damaged = np.where(known, picture, np.float32(0))
filled, report = lobcod.inpaint(damaged, known, return_report=True)
print(f"{known.sum()} of {known.size} pixels known")
print(f"damaged {lobcod.psnr(damaged, picture):.2f} dB")
print(f"filled {lobcod.psnr(filled, picture):.2f} dB at penalty {report.penalty:.3f}")
