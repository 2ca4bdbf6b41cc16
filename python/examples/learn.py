"""Learns a dictionary from an image, and compares it with the initial one."""

import lobcod

PENALTY = 20
image: lobcod.Array = lobcod.still_life(96).mean(axis=-1)


def cost(dictionary: lobcod.Array) -> float:
    """Objective of the optimal codes."""
    return lobcod.encode(image, dictionary, PENALTY).report.objective


learnt, report = lobcod.learn([image], atoms=32, size=(8, 8), penalty=PENALTY, passes=10)
first = lobcod.random_dictionary(32, (8, 8), seed=0)
print(f"{report.passes} passes over the image")
for name, dictionary in (("random atoms", first), ("natural", lobcod.embedded_dictionary()), ("learnt", learnt)):
    mantissa, exponent = f"{cost(dictionary):.3e}".split("e")
    print(f"{name:14} objective {mantissa}e{int(exponent)}")
