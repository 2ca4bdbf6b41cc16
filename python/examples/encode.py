"""Encodes an image and reconstructs it from its codes."""

import lobcod

image = lobcod.still_life(128).mean(axis=-1)
codes = lobcod.encode(image, "natural", penalty=20)
again = codes.reconstruct()
report = codes.report
small = str(report.relative_gap <= 1e-3).lower()
mantissa, exponent = f"{report.objective:.4e}".split("e")
print(f"{report.status}: objective {mantissa}e{int(exponent)}, gap below 1e-3: {small}")
print(f"{report.nonzeros} non-zero codes for {report.pixels} pixels")
print(f"{lobcod.psnr(again, image, 255):.2f} dB")
