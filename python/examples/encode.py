"""Codes a picture, and makes the picture again from its codes."""

import lobcod

picture = lobcod.still_life(128).mean(axis=-1)
codes = lobcod.encode(picture, "natural", penalty=20)
again = codes.reconstruct()
report = codes.report
small = str(report.relative_gap <= 1e-3).lower()
mantissa, exponent = f"{report.objective:.4e}".split("e")
print(f"{report.status}: objective {mantissa}e{int(exponent)}, gap below 1e-3: {small}")
print(f"{report.nonzeros} non-zero codes for {report.pixels} pixels")
print(f"{lobcod.psnr(again, picture):.2f} dB")
