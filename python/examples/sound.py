"""Encodes a 1-D signal of decaying tones, with atoms learnt from it."""

import lobcod
import numpy as np

t = np.arange(400)


def tone(start: int, pitch: float) -> lobcod.Array:
    """A tone that starts at `start`."""
    since = np.maximum(t - start, 0).astype(float)
    return np.where(t < start, 0.0, np.exp(-since / 12.0) * np.sin(pitch * since))


sound = np.zeros(len(t))
for k in range(12):
    sound += tone(31 * k + 7, [0.6, 1.1, 1.7][k % 3])
learnt, report = lobcod.learn([sound], atoms=6, size=40, passes=20, base="none")
first = lobcod.random_dictionary(6, 40, seed=0, precision="f64")
for name, dictionary in (("random atoms", first), ("learnt atoms", learnt)):
    coded = lobcod.encode(sound, dictionary, report.penalty, base="none").report
    print(f"{name}: objective {coded.objective:.3f}, {coded.nonzeros} codes")
