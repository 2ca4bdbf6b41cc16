"""Fuses two images, each sharp in one half."""

import lobcod
import numpy as np

SIZE = 96
REACH = 2  # blur radius in pixels

# Integers, whose sums are exact in any order.
sharp = np.rint(lobcod.still_life(SIZE).mean(axis=-1))
shifts = range(-REACH, REACH + 1)
total = np.sum([np.roll(sharp.astype(float), (dy, dx), (0, 1)) for dy in shifts for dx in shifts], axis=0)
blurred = (total / len(shifts) ** 2).astype(np.float32)
left = np.arange(SIZE) < SIZE // 2
frames = [np.where(left, sharp, blurred), np.where(left, blurred, sharp)]
fused, report = lobcod.fuse(frames, return_report=True)
first, second = (lobcod.psnr(frame, sharp, 255) for frame in frames)
print(f"frames {first:.2f} dB and {second:.2f} dB")
print(f"fused {lobcod.psnr(fused, sharp, 255):.2f} dB, {(report.decision == 1).sum()} of {sharp.size} pixels from the second")
