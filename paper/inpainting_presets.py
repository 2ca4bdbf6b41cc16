"""Presets of inpainting: quality and time on scratches, text and random loss, grey and in colour.

Every preset should be at least as good as the faster ones, and worth its time.

    pip install -r paper/requirements-tasks.txt && cargo build --release
    python paper/inpainting_presets.py [--save]

Prints the mean PSNR of the missing pixels over the images, and the mean processor seconds.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from lib.common import BINARY, DATA, Table, psnr, read, run, save_image

IMAGES = ("kodim05", "kodim08", "kodim13", "kodim19", "kodim23", "kodim24")
PRESETS = ("fast", "standard", "best")
SIZE = 192


def scratches(rng):
    """Curved lines 2 to 4 pixels wide, on 3 % of the image."""
    mask = Image.new("L", (SIZE, SIZE))
    draw = ImageDraw.Draw(mask)
    while np.mean(np.asarray(mask) > 0) < 0.03:
        angle, at = rng.uniform(0, 2 * np.pi), rng.uniform(0, SIZE, 2)
        line = [tuple(at)]
        for _ in range(12):
            angle += rng.normal(0, 0.12)
            at = at + 15 * np.array([np.cos(angle), np.sin(angle)])
            line.append(tuple(at))
        draw.line(line, fill=255, width=int(rng.integers(2, 5)))
    return np.asarray(mask) > 0


def text(_):
    mask = Image.new("L", (SIZE, SIZE))
    draw = ImageDraw.Draw(mask)
    for y in range(8, SIZE, 40):
        draw.text((4, y), "The quick brown fox jumps over the dog", fill=255, font=ImageFont.load_default(18))
    return np.asarray(mask) > 127


def random(rng):
    return rng.random((SIZE, SIZE)) < 0.5


MASKS = {"scratches": scratches, "text": text, "half missing": random}


def fill(folder, image, holes, preset):
    """PSNR of the missing pixels, and processor seconds."""
    damaged, mask, output = (folder / f"{name}.png" for name in ("damaged", "mask", "filled"))
    save_image(damaged, np.where(holes if image.ndim == 2 else holes[..., None], 0, image))
    save_image(mask, 255 * holes)
    command = [BINARY, "inpaint", damaged, "--holes", mask, "-o", output, "--preset", preset, "--quiet"]
    _, processor, _ = run([*command, "--fill", "model"], 600, threads=0)
    return psnr(read(output)[holes], image[holes]), processor


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true", help="write the table to results/tables")
    title = f"PSNR of the missing pixels in dB and processor seconds, mean of {len(IMAGES)} images of {SIZE}x{SIZE}"
    table = Table("inpaint-presets", title, ["damage", "image", *PRESETS], parser.parse_args().save)
    with tempfile.TemporaryDirectory() as folder:
        for damage, make in MASKS.items():
            for kind in ("grey", "colour"):
                scores = {preset: [] for preset in PRESETS}
                for number, name in enumerate(IMAGES):
                    image = read(DATA / f"color/{name}.png")[150 : 150 + SIZE, 250 : 250 + SIZE]
                    image = np.round(image @ [0.299, 0.587, 0.114]) if kind == "grey" else image
                    holes = make(np.random.default_rng(number))
                    for preset in PRESETS:
                        scores[preset].append(fill(Path(folder), image, holes, preset))
                cells = ("{:.2f} dB, {:.1f} s".format(*np.mean(scores[preset], axis=0)) for preset in PRESETS)
                table.add(damage, kind, *cells)
    table.close()


if __name__ == "__main__":
    main()
