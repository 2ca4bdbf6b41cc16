"""Learns a dictionary from a picture, and codes the picture with it and with the one it started from."""

from typing import Any

import lobcod

PENALTY = 20
picture = lobcod.still_life(96).mean(axis=-1)


def cost(dictionary: Any) -> float:
    """Objective of the best codes."""
    return lobcod.encode(picture, dictionary, PENALTY).report.objective


learnt, report = lobcod.learn([picture], atoms=32, size=(8, 8), penalty=PENALTY, passes=10)
first = lobcod.random_dictionary(32, (8, 8), seed=0)
print(f"{report.passes} passes over the picture")
for name, dictionary in (("random atoms", first), ("natural", "natural"), ("learnt", learnt)):
    mantissa, exponent = f"{cost(dictionary):.3e}".split("e")
    print(f"{name:14} objective {mantissa}e{int(exponent)}")
