"""Thin scratches on images of 0.4 megapixels: quality and processor seconds of `inpaint --preset fast` compared with
scikit-image's biharmonic, in turns so that other work on the machine slows both.

    python3 -m venv .venv-scratches
    .venv-scratches/bin/pip install numpy pillow scikit-image==0.26.0
    cargo build --release
    .venv-scratches/bin/python paper/inpainting_scratches.py [--presets fast standard] [--images kodim05 ...]

Biharmonic is timed as a call; lobcod as a process, and the time of the same process on a mask without holes (start,
reading, writing) is printed separately. PSNR is that of the missing pixels, of 8-bit answers.
"""

import argparse
import resource
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from lib.common import BINARY, DATA, psnr, read, run, save_image

SHARES = (0.005, 0.02)
REPEATS = 3


def scratches(shape, share, rng):
    """Curved lines 1 to 3 pixels wide."""
    height, width = shape
    mask = Image.new("L", (width, height))
    draw = ImageDraw.Draw(mask)
    while np.mean(np.asarray(mask) > 0) < share:
        angle, at = rng.uniform(0, 2 * np.pi), rng.uniform(0, 1, 2) * (width, height)
        line = [tuple(at)]
        for _ in range(20):
            angle += rng.normal(0, 0.12)
            at = at + 15 * np.array([np.cos(angle), np.sin(angle)])
            line.append(tuple(at))
        draw.line(line, fill=255, width=int(rng.integers(1, 4)))
    return np.asarray(mask) > 0


def biharmonic(damaged, holes):
    """The filled image and processor seconds."""
    from skimage.restoration import inpaint_biharmonic

    before = resource.getrusage(resource.RUSAGE_SELF)
    filled = inpaint_biharmonic(damaged, holes, channel_axis=-1 if damaged.ndim == 3 else None)
    after = resource.getrusage(resource.RUSAGE_SELF)
    return np.clip(np.round(255 * filled), 0, 255), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def lobcod(folder, damaged, holes, preset):
    """The same, by lobcod."""
    files = [folder / f"{name}.png" for name in ("damaged", "mask", "filled")]
    save_image(files[0], damaged)
    save_image(files[1], 255 * holes)
    command = [BINARY, "inpaint", files[0], "--holes", files[1], "-o", files[2], "--preset", preset, "--quiet"]
    _, seconds, _ = run([*command, "--fill", "model"], 600, threads=0)
    return read(files[2]), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presets", nargs="+", default=["fast"])
    parser.add_argument("--images", nargs="+", default=["kodim05", "kodim08", "kodim13", "kodim19", "kodim23", "kodim24"])
    options = parser.parse_args()
    presets = options.presets
    heads = [f"{name}, dB | s | times biharmonic | without start and files" for name in presets]
    print("| image | | holes | biharmonic, dB | s | " + " | ".join(heads) + " |")
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for kind in ("grey", "colour"):
            for share in SHARES:
                for number, name in enumerate(options.images):
                    image = read(DATA / "color" / f"{name}.png").astype(np.uint8)
                    if kind == "grey":
                        image = np.round(image @ [0.299, 0.587, 0.114]).astype(np.uint8)
                    holes = scratches(image.shape[:2], share, np.random.default_rng(number))
                    damaged = np.where(holes if image.ndim == 2 else holes[..., None], 0, image).astype(np.uint8)
                    rounds = []
                    for _ in range(REPEATS):
                        answers = [biharmonic(damaged, holes), lobcod(folder, damaged, holes & False, presets[0])]
                        rounds.append(answers + [lobcod(folder, damaged, holes, preset) for preset in presets])
                    seconds = np.min([[answer[1] for answer in answers] for answers in rounds], axis=0)
                    scores = [psnr(answer[0][holes], image[holes]) for answer in rounds[0]]
                    cells = [f"{scores[0]:.2f} | {seconds[0]:.3f}"]
                    for score, took in zip(scores[2:], seconds[2:]):
                        ratios = [took / seconds[0], (took - seconds[1]) / seconds[0]]
                        cells.append("{:.2f} | {:.2f} | {:.1f} | {:.1f}".format(score, took, *ratios))
                    print(f"| {name} | {kind} | {share:.1%} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
