"""Learns online from stripes at one angle, then at another, and prints the cost of both kinds with the current dictionary."""

import math

import lobcod
import numpy as np

SIDE = 48
PENALTY = 0.4
UPRIGHT, LEVEL = 0.3, 1.9


def stripes(angle: float, number: int) -> lobcod.Array:
    """Stripes across the direction `angle`; every number has a phase of its own."""
    y, x = np.mgrid[:SIDE, :SIDE].astype(float)
    wave: lobcod.Array = np.sin(1.1 * (x * math.cos(angle) + y * math.sin(angle)) + number)
    return wave.astype(np.float32)


def cost(dictionary: lobcod.Array, angle: float) -> float:
    """Objective of the best codes of stripes that were never learnt from."""
    return lobcod.encode(stripes(angle, 99), dictionary, PENALTY, base="none").report.objective


def row(name: str, dictionary: lobcod.Array) -> None:
    """Prints what both kinds cost."""
    print(f"{name:24} {cost(dictionary, UPRIGHT):8.1f} {cost(dictionary, LEVEL):8.1f}")


first = lobcod.random_dictionary(6, (6, 6), seed=1)
stream = lobcod.Stream(size=(6, 6), penalty=PENALTY, init=first, stream_memory=4, base="none")
print(f"{'cost of stripes':24} {'upright':>8} {'level':>8}")
row("at first", first)
for name, angle in (("after 8 upright ones", UPRIGHT), ("after 8 level ones", LEVEL)):
    for number in range(8):
        stream.partial_fit(stripes(angle, number))
    row(name, stream.dictionary)
