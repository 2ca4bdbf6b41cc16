"""Learns waveforms from simulated EEG, and removes the blinks.

Needs ``pip install "lobcod[mne]"``. Run ``python eeg.py FIGURE.png`` to draw topographies, waveforms and the cleaned recording.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import lobcod
import mne
import numpy as np
from lobcod.mne import CSC

RATE, LENGTH, SAMPLES = 100.0, 50, 6000


@dataclass
class Simulation:
    """A recording, and what it consists of besides noise: blinks, arch-shaped bursts and fast bursts."""

    raw: Any
    topographies: lobcod.Array
    waveforms: lobcod.Array
    starts: list[lobcod.Array]
    parts: lobcod.Array
    """What each source contributes to the recording."""


def simulate() -> Simulation:
    """Simulate a minute of EEG whose sources are dipoles in a sphere; the recording starts at sample 1234."""
    montage = mne.channels.make_standard_montage("biosemi32")
    info = mne.create_info(montage.ch_names, RATE, "eeg").set_montage(montage)
    topographies, time, rng = leads(info), np.arange(LENGTH) / RATE, np.random.default_rng(0)
    window = np.hanning(LENGTH)
    arches = window * (np.abs(np.sin(np.pi * 5 * time)) - 0.6)
    waveforms = np.stack([window**2 * np.sin(2 * np.pi * 2 * time), arches, window * np.sin(2 * np.pi * 11 * time)])
    waveforms /= np.linalg.norm(waveforms, axis=1, keepdims=True)
    parts = np.zeros((3, len(topographies), SAMPLES))
    starts = []
    for k, (count, strength) in enumerate([(15, 150e-6), (40, 40e-6), (40, 40e-6)]):
        starts.append(np.sort(rng.choice(np.arange(10, 5900, 60), count, replace=False)) + rng.integers(0, 10, count))
        for start in starts[k]:
            burst = strength * rng.uniform(0.8, 1.2) * np.outer(topographies[:, k], waveforms[k])
            parts[k, :, start : start + LENGTH] += burst
    data = parts.sum(axis=0) + 1e-6 * rng.standard_normal(parts.shape[1:])
    return Simulation(mne.io.RawArray(data, info, first_samp=1234).filter(0.5, None), topographies, waveforms, starts, parts)


def leads(info: Any) -> lobcod.Array:
    """Potentials at the electrodes of three dipoles: frontal, central and occipital."""
    empty = mne.io.RawArray(np.zeros((len(info.ch_names), 9)), info).set_eeg_reference(projection=True)
    sphere = mne.make_sphere_model("auto", "auto", empty.info)
    places = sphere["r0"] + np.array([[-0.03, 0.055, -0.01], [-0.04, 0, 0.05], [0.015, -0.06, 0.01]])
    directions = np.array([[0, 1, 0], [0, 0.6, 0.8], [0, -0.96, 0.28]])
    dipoles = mne.Dipole(np.arange(3.0), places, np.full(3, 1e-8), directions, np.full(3, 100.0))
    solved = mne.make_forward_dipole(dipoles, sphere, empty.info)[0]["sol"]["data"]
    solved = solved - solved.mean(axis=0)
    return np.asarray(solved / np.linalg.norm(solved, axis=0))


def draw(csc: CSC, raw: Any, cleaned: Any, file: str) -> None:
    """Draw the components, and ten seconds of a frontal channel before and after the blinks are subtracted."""
    import matplotlib.pyplot as plt

    count = csc.n_components_
    figure = plt.figure(figsize=(2.2 * count, 5.4), layout="constrained")
    maps, waves, channel = figure.add_gridspec(3, count, height_ratios=(1.3, 0.8, 0.9)), csc.get_waveforms(), "Fp1"
    for k in range(count):
        top, middle = (figure.add_subplot(maps[row, k]) for row in (0, 1))
        mne.viz.plot_topomap(csc.get_components()[:, k], csc.info, axes=top, show=False)
        top.set_title(f"CSC{k:03d}")
        middle.plot(np.arange(waves.shape[1]) / RATE, waves[k], color="C0")
        middle.set(yticks=[], xlabel="time (s)")
    below = figure.add_subplot(maps[2, :])
    for data, colour, name in ((raw, "0.7", "recorded"), (cleaned, "C3", "without CSC000")):
        below.plot(raw.times[:1000], 1e6 * data.get_data(channel)[0, :1000], color=colour, label=name, linewidth=1)
    below.set(xlabel="time (s)", ylabel=f"{channel} (µV)")
    below.legend(loc="upper right", ncols=2)
    figure.savefig(file, dpi=80)


if __name__ == "__main__":
    mne.set_log_level("error")
    simulation = simulate()
    csc = CSC(n_components=3, duration=0.5).fit(simulation.raw)
    events = csc.annotate(simulation.raw)
    for k in range(csc.n_components_):
        print(f"CSC{k:03d}: {int((events.description == f'CSC{k:03d}').sum())} events")
    cleaned = csc.apply(simulation.raw.copy(), exclude=[0])
    rest = simulation.parts[1:].sum(axis=0)
    for name, raw in (("recorded", simulation.raw), ("without CSC000", cleaned)):
        print(f"{name}: {1e6 * np.sqrt(np.mean((raw.get_data() - rest) ** 2)):.2f} µV of blinks and noise")
    if len(sys.argv) > 1:
        draw(csc, simulation.raw, cleaned, sys.argv[1])
