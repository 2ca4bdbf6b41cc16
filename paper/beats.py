"""Beats of an electrocardiogram, learnt with non-negative codes.

Five minutes of lead MLII of record 208 of the MIT-BIH Arrhythmia Database at 360 Hz, which SciPy below 1.10 contains:
normal beats and premature ones of another shape. The events that the codes find are compared with the peaks that
`scipy.signal.find_peaks` finds.

    pip install numpy pillow scipy==1.9.3 matplotlib && cargo build --release
    python paper/beats.py [--figure beats.png]
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from scipy import signal
from scipy.misc import electrocardiogram

from lib.common import Table, lobcod

RATE = 360
SIZE = 216
ATOMS = 3
NEAR = 0.1
"""Largest distance of an event from its peak, in seconds."""
APART = 0.25
"""Smallest distance of two beats, in seconds."""


def peaks(recording):
    """Times of the beats by their prominence in the band of the QRS complex."""
    band = signal.sosfiltfilt(signal.butter(2, (5, 20), "bandpass", fs=RATE, output="sos"), recording)
    energy = np.convolve(band**2, np.hanning(RATE // 6) / (RATE / 12), "same")
    found = signal.find_peaks(energy, distance=APART * RATE, prominence=0.1 * np.quantile(energy, 0.98))[0]
    return found / RATE


def events(codes, atoms, apart=APART):
    """Time, atom and value of the strongest codes, none of them near a stronger one."""
    peak = np.abs(atoms).argmax(axis=1)
    times = (codes["position"][:, 0] + peak[codes["atom"]]) / RATE
    kept = []
    for j in np.argsort(-codes["value"]):
        if codes["value"][j] >= 0.15 * codes["value"].max() and all(abs(times[j] - times[k]) > apart for k in kept):
            kept.append(j)
    kept = sorted(kept, key=lambda j: times[j])
    return times[kept], codes["atom"][kept], codes["value"][kept]


def matched(times, others):
    """Which times have one of the others near them."""
    return np.abs(np.subtract.outer(times, others)).min(axis=1) <= NEAR


def draw(file, recording, atoms, found):
    """The waveforms, and six seconds with normal and premature beats."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplot_mosaic([list("012"), list("xxx")], figsize=(9, 4.5), layout="constrained")
    for k, atom in enumerate(atoms):
        axes[str(k)].plot(np.arange(SIZE) / RATE, atom, color=f"C{k}")
        axes[str(k)].set(title=f"waveform {k}", xlabel="time (s)", yticks=[])
    times, kinds, _ = found
    start, stop = 45, 51
    within = slice(start * RATE, stop * RATE)
    axes["x"].plot(np.arange(len(recording))[within] / RATE, recording[within], color="0.4", linewidth=1)
    for k in range(ATOMS):
        here = times[(kinds == k) & (times >= start) & (times < stop)]
        axes["x"].plot(here, np.full(len(here), recording[within].max() + 0.3), "v", color=f"C{k}")
    axes["x"].set(xlabel="time (s)", ylabel="mV", xlim=(start, stop))
    figure.savefig(file, dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    recording = electrocardiogram()
    with tempfile.TemporaryDirectory() as folder:
        ecg, beats, codes = (Path(folder) / name for name in ("ecg.npy", "beats.npz", "codes.npz"))
        np.save(ecg, recording.astype(np.float32))
        model = ("--axes", "t", "--nonnegative")
        learning = ("--atoms", ATOMS, "--size", SIZE, "--init", "patches", "--grow", "--sort", "variance")
        learnt = lobcod("learn", ecg, "-o", beats, *model, *learning)
        coded = lobcod("encode", ecg, "-o", codes, *model, "--dictionary", beats, "--penalty", learnt["penalty"])
        atoms = np.load(beats)["atoms"]
        with np.load(codes) as kept:
            codes = {name: kept[name] for name in ("position", "atom", "value")}
    assert codes["value"].min() > 0
    found, reference = events(codes, atoms), peaks(recording)
    table = Table(
        "beats", "Beats of an electrocardiogram", ["waveform", "events", "median strength (mV)"], options.save
    )
    for k in range(ATOMS):
        mine = found[1] == k
        strength = np.median(found[2][mine]) * np.abs(atoms[k]).max() if mine.any() else 0
        table.add(k, int(mine.sum()), f"{strength:.2f}")
    table.close()
    print(f"{len(reference)} beats by their peaks, {len(found[0])} events by the codes")
    print(f"{100 * matched(reference, found[0]).mean():.1f} % of the beats have an event within {1000 * NEAR:.0f} ms,")
    print(f"{100 * matched(found[0], reference).mean():.1f} % of the events a beat")
    print(
        f"learning {learnt['seconds']:.1f} s, coding {coded['seconds']:.2f} s, relative gap {coded['relative_gap']:.1e}"
    )
    if options.figure:
        draw(options.figure, recording, atoms, found)


if __name__ == "__main__":
    main()
