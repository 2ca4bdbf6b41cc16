"""Make the images of the how-to guides and of the README with the program itself.

    pip install numpy pillow matplotlib scipy==1.9.3 scikit-image==0.24.0 "lobcod[mne]"
    python docs/images/make.py [NAME ...]      # all, or some of: restore, focus, exposure, denoise, waveforms, eeg, strip

The originals are photographs from the packages scikit-image and scipy; LICENCES.md names their authors and
licences. Scratches, defocus, exposures and noise are simulated here, from fixed seeds. LOBCOD_BINARY names the
program.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw
from scipy import ndimage
from skimage import data

FOLDER = Path(__file__).resolve().parent
PROGRAM = Path(os.environ.get("LOBCOD_BINARY", FOLDER.parents[1] / "target" / "release" / "lobcod"))


def lobcod(*words):
    subprocess.run([PROGRAM, *map(str, words), "--quiet"], check=True, cwd=FOLDER)


def save(name, array):
    Image.fromarray(np.clip(np.round(array), 0, 255).astype(np.uint8)).save(FOLDER / name, optimize=True)


def read(name):
    return np.asarray(Image.open(FOLDER / name)).astype(float)


def restore():
    """A photograph with scratches and a stain, and their mask."""
    cat = data.chelsea()[20:276, 60:400].astype(float)
    mask = Image.new("L", (cat.shape[1], cat.shape[0]), 0)
    pen, rng = ImageDraw.Draw(mask), np.random.default_rng(3)
    for _ in range(14):
        start, bend = rng.uniform(0, 1, 2) * mask.size, rng.normal(0, 60, (3, 2))
        points = [tuple(start + bend[:i].sum(axis=0)) for i in range(4)]
        pen.line(points, fill=255, width=int(rng.integers(2, 5)), joint="curve")
    pen.ellipse((262, 30, 292, 52), fill=255)
    holes = np.asarray(mask) > 127
    scratched = np.where(holes[..., None], 235 + rng.normal(0, 6, cat.shape), cat)
    save("scratched.png", scratched)
    save("scratches.png", 255.0 * holes)
    lobcod("inpaint", "scratched.png", "--holes", "scratches.png", "-o", "restored.png")


def focus():
    """Three frames of a table whose distance grows towards the top of the image, focused at three distances."""
    scene = data.coffee()[40:360, 120:560].astype(float)
    rows = np.linspace(0, 1, len(scene))
    levels = np.linspace(0, 4, 17)
    blurred = np.stack([ndimage.gaussian_filter(scene, (s, s, 0), mode="nearest") for s in levels])
    for name, distance in (("focus-near.png", 0.9), ("focus-middle.png", 0.5), ("focus-far.png", 0.1)):
        spread = np.clip(9 * np.maximum(np.abs(rows - distance) - 0.2, 0), 0, levels[-1])
        place = spread / (levels[1] - levels[0])
        low = np.minimum(place.astype(int), len(levels) - 2)
        part = (place - low)[:, None, None]
        index = np.arange(len(scene))
        save(name, (1 - part) * blurred[low, index] + part * blurred[low + 1, index])
    frames = ("focus-near.png", "focus-middle.png", "focus-far.png")
    lobcod("fuse", *frames, "-o", "focused.png", "--decision-map", "focus-decision.png")


def exposure():
    """Two exposures of one scene, each with a part that is clipped."""
    scene = (data.rocket()[60:380, 120:560] / 255.0) ** 2.2
    for name, factor in (("exposure-dark.png", 0.35), ("exposure-bright.png", 4.0)):
        save(name, 255 * np.clip(factor * scene, 0, 1) ** (1 / 2.2))
    lobcod("fuse", "exposure-dark.png", "exposure-bright.png", "-o", "exposed.png", "--mode", "exposure")


def denoise():
    """A micrograph with photon noise."""
    clean = data.immunohistochemistry()[100:356, 80:420].astype(float)
    gain = 6.0
    save("noisy.png", gain * np.random.default_rng(0).poisson(clean / gain))
    lobcod("denoise", "noisy.png", "-o", "denoised.png")


def waveforms():
    """Waveforms of an electrocardiogram: a minute of it as a file, the learnt atoms, and when they occur."""
    import matplotlib.pyplot as plt
    from scipy.misc import electrocardiogram

    signal = electrocardiogram()[: 60 * 360].astype(np.float32)
    np.save(FOLDER / "ecg.npy", signal)
    with tempfile.TemporaryDirectory() as folder:
        atoms, events = Path(folder) / "beats.npz", Path(folder) / "events.npz"
        lobcod("learn", "ecg.npy", "-o", atoms, "--axes", "t", "--atoms", 4, "--size", 180, "--passes", 20)
        lobcod("encode", "ecg.npy", "-o", events, "--dictionary", atoms)
        waves, codes = np.load(atoms)["atoms"], dict(np.load(events))
    figure = plt.figure(figsize=(9, 4), layout="constrained")
    panels = figure.subplot_mosaic("0123;rrrr")
    seconds = np.arange(8 * 360) / 360
    panels["r"].plot(seconds, signal[: len(seconds)], color="0.4", linewidth=0.8)
    for atom, wave in enumerate(waves.reshape(4, -1)):
        panels[str(atom)].plot(np.arange(180) / 360, wave, color=f"C{atom}")
        panels[str(atom)].set(xlabel="time (s)", yticks=[], title=f"atom {atom}")
        start = codes["position"][(codes["atom"] == atom) & (np.abs(codes["value"]) > 1)].ravel()
        peak = (start + np.argmax(np.abs(wave))) / 360
        panels["r"].plot(peak, np.full(len(peak), 2.2 + 0.25 * atom), "v", color=f"C{atom}", markersize=4)
    panels["r"].set(xlim=(0, 8), xlabel="time (s)", ylabel="mV")
    figure.savefig(FOLDER / "beats.png", dpi=90)


def eeg():
    """Components of simulated EEG, with the Python package and MNE."""
    example = FOLDER.parents[1] / "python" / "examples" / "mne" / "eeg.py"
    subprocess.run([sys.executable, example, FOLDER / "eeg.png"], check=True)


def strip():
    """The README's strip: before and after, three times."""
    pairs = [("scratched.png", "restored.png"), ("focus-near.png", "focused.png"), ("noisy.png", "denoised.png")]
    height, gap = 250, 6
    panels = []
    for pair in pairs:
        for name in pair:
            image = Image.open(FOLDER / name).convert("RGB")
            side = min(image.size)
            left = (image.width - side) // 2
            panels.append(image.crop((left, 0, left + side, side)).resize((height, height), Image.LANCZOS))
    sheet = Image.new("RGB", (6 * height + 3 * gap + 2 * 4 * gap, height), "white")
    x = 0
    for index, panel in enumerate(panels):
        sheet.paste(panel, (x, 0))
        x += height + (gap if index % 2 == 0 else 4 * gap)
    sheet.save(FOLDER / "strip.jpg", quality=88)


if __name__ == "__main__":
    for name in sys.argv[1:] or ("restore", "focus", "exposure", "denoise", "waveforms", "eeg", "strip"):
        globals()[name]()
