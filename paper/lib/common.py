"""What the scripts share: places, images, the run of a program, scores, and results that are kept.

A script with several parts writes `results/<script>.json`: the machine, the size of the run, and its parts. A part
that exists in the requested size is not run again (`--again` does), so a script that was stopped resumes where it
was. A solver that fails or takes too long leaves the reason in its part, and the others continue. Scripts that
print a table write it to `results/tables` with `--save`.
"""

import argparse
import datetime
import json
import os
import platform
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from lib import synthetic
from lib.pursuit_peers import OVERHANG, SIDE, Objective

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "paper" / "results"
DATA = Path(os.environ.get("LOBCOD_DATA", ROOT.parent / "shared" / "data"))
BINARY = Path(os.environ.get("LOBCOD_BINARY", ROOT / "target" / "release" / "lobcod"))
EXAMPLES = ROOT / "target" / "release" / "examples"
CORE = max(os.sched_getaffinity(0))


def parse(doc, **more):
    """The options of a script; `more` holds its own, name: arguments of add_argument."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    size = parser.add_mutually_exclusive_group()
    size.add_argument(
        "--quick", dest="size", action="store_const", const="quick", help="small sizes, minutes (default)"
    )
    size.add_argument("--full", dest="size", action="store_const", const="full", help="the paper's sizes, hours")
    parser.add_argument("--again", action="store_true", help="also run parts that exist")
    parser.add_argument("--results", type=Path, default=RESULTS)
    for name, arguments in more.items():
        parser.add_argument(name, **arguments)
    parser.set_defaults(size="quick")
    # A script that is terminated also ends the solver it waits for.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    return parser.parse_args()


def real_time():
    """Words that give a command real-time priority where that is allowed, so that other work on the machine does not
    count; LOBCOD_PRIORITY=ordinary turns it off."""
    ahead = ["chrt", "-f", "1"]
    if os.environ.get("LOBCOD_PRIORITY") == "ordinary" or not shutil.which(ahead[0]):
        return []
    return [] if subprocess.run([*ahead, "true"], capture_output=True).returncode else ahead


def machine():
    info = Path("/proc/cpuinfo")
    model = (
        [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
        if info.exists()
        else []
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    head = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    return {
        "processor": model[0] if model else platform.processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(memory, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "real_time_priority": bool(real_time()),
        "pinned_to_core": CORE,
        "commit": head,
    }


def version():
    """The version of the workspace."""
    return re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]


def origin(folder="paper"):
    """Where results come from: the command of a script in that folder, machine, version, commit and date; and the
    processor time so far."""
    one = machine()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "command": " ".join(["python", f"{folder}/{Path(sys.argv[0]).name}", *sys.argv[1:]]),
        "machine": f"{one['processor']}, {one['cores']} cores, {one['memory_gib']} GiB",
        "version": version(),
        "commit": one["commit"],
        "date": datetime.date.today().isoformat(),
        "cpu_minutes": round(sum(one.ru_utime + one.ru_stime for one in used) / 60, 1),
    }


class Table:
    """A table that is printed row by row and, with `save`, written to results/tables."""

    def __init__(self, name, title, columns, save):
        self.name, self.title, self.columns, self.save, self.rows = name, title, columns, save, []
        self.show(columns)
        self.show(["---"] * len(columns))

    def show(self, cells):
        print("| " + " | ".join(cells) + " |", flush=True)

    def add(self, *cells):
        self.rows.append([str(cell) for cell in cells])
        self.show(self.rows[-1])

    def close(self):
        print()
        if self.save:
            kept = {"title": self.title, **origin(), "columns": self.columns, "rows": self.rows}
            path = RESULTS / "tables" / f"{self.name}.json"
            path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


class Results:
    """The kept results of one script."""

    def __init__(self, name, options, data=None):
        data = data or data_source()
        self.path = options.results / f"{name}.json"
        self.size, self.again = options.size, options.again
        self.kept = json.loads(self.path.read_text()) if self.path.exists() else {"parts": {}}
        if self.kept.get("data") != data:
            # Results of other images are not part of this run.
            self.kept["parts"] = {}
        self.kept.update(script=f"paper/{Path(sys.argv[0]).name}", version=version(), machine=machine(), data=data)

    def part(self, name, work):
        """The part of that name: as kept, or else what `work` returns."""
        parts = self.kept["parts"]
        there = parts.get(name)
        if there and there["size"] == self.size and "failed" not in there and not self.again:
            return there
        print(f"{self.path.stem}: {name}", file=sys.stderr, flush=True)
        began = time.monotonic()
        try:
            answer = work()
        except (subprocess.SubprocessError, OSError, ValueError, ImportError, MemoryError) as error:
            answer = {"failed": f"{type(error).__name__}: {error}"[:300]}
            print(f"{self.path.stem}: {name} failed: {error}", file=sys.stderr, flush=True)
        parts[name] = {
            **answer,
            "size": self.size,
            "load_average": round(os.getloadavg()[0], 1),
            "took_seconds": round(time.monotonic() - began, 1),
            "date": datetime.date.today().isoformat(),
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        written = self.path.with_suffix(".tmp")
        written.write_text(json.dumps(self.kept, indent=1) + "\n")
        written.replace(self.path)
        return parts[name]

    def file(self, name):
        return self.path.parent / name


def run(command, timeout, threads=1):
    """What a command prints, its processor seconds and its wall seconds; on one thread also pinned to one core.
    Threads: 0 means as many as the command likes."""
    single = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    place = ["taskset", "-c", str(CORE)] if threads == 1 else []
    with tempfile.TemporaryFile() as out:
        began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen(
            [*real_time(), *place, *map(str, command)],
            stdout=out,
            stderr=subprocess.PIPE,
            env={**os.environ, **single, "PYTHONWARNINGS": "ignore", "PYTHONPATH": str(ROOT / "paper")},
        )
        try:
            _, errors = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            process.wait()
            raise
        if process.returncode:
            raise ValueError(f"{Path(command[0]).name} failed: {errors.decode()[-300:]}")
        wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        out.seek(0)
        return out.read().decode(), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def steady(command, timeout, threads=1):
    """What a command prints that measures wall time, and its processor seconds. A short run that had to wait for
    other programs is repeated, twice at most."""
    for _ in range(3):
        output, processor, wall = run(command, timeout, threads)
        if threads != 1 or wall < 1.1 * processor + 0.05 or wall > 10:
            break
    return output, processor


def lobcod(*words, timeout=600, threads=1, binary=None):
    """The report of one run of lobcod. On one thread no time in it exceeds the processor time of the whole process:
    the rest was spent waiting for other programs."""
    command = [binary or BINARY, *words, "--threads", threads, "--json", "--quiet"]
    output, processor = steady(command, timeout, threads)
    report = json.loads(output)
    if threads == 1:
        for timed in (report, *report.get("history", [])):
            timed["seconds"] = min(timed["seconds"], processor)
    return report


def psnr(a, b, peak=255.0):
    """In dB; infinite for equal images."""
    error = np.mean((np.asarray(a, dtype=float) - b) ** 2)
    return np.inf if error == 0 else 10 * np.log10(peak**2 / error)


def read(path):
    """An image with its channels, 0 to 255."""
    from PIL import Image

    return np.asarray(Image.open(path)).astype(float)


def grey(path):
    from PIL import Image

    return np.asarray(Image.open(path).convert("L"), dtype=float)


def save_image(path, image):
    from PIL import Image

    Image.fromarray(np.clip(np.round(image), 0, 255).astype(np.uint8)).save(path)


def middle(image, side=256):
    y, x = ((n - side) // 2 for n in image.shape[:2])
    return image[y : y + side, x : x + side]


SYNTHETIC = "synthetic images"


def data_source():
    return "reference images" if DATA.exists() else f"{SYNTHETIC} (the reference images are not here)"


def images(pattern, count, side):
    """Grey images in 0..255: those of the data folder, or as many synthetic ones."""
    files = sorted(DATA.glob(pattern))
    return [grey(path) for path in files] if files else [synthetic.scene(side, side, seed) for seed in range(count)]


def without_mean(image):
    """An image less its 8x8 local mean (4 pixels before, 3 after, mirrored)."""
    mirrored = np.pad(image, (SIDE // 2, SIDE // 2 - 1), mode="reflect")
    return image - np.lib.stride_tricks.sliding_window_view(mirrored, (SIDE, SIDE)).mean(axis=(2, 3))


def read_codes(files, shape, atoms):
    """Codes that lobcod wrote for the signals (k, h, w), as the sparse matrix that `Objective` takes."""
    images, rows, columns = np.add(shape, (0, OVERHANG, OVERHANG))
    loaded = [np.load(path) for path in files]
    place = [
        (image * rows + file["position"][:, 0] + OVERHANG) * columns + file["position"][:, 1] + OVERHANG
        for image, file in enumerate(loaded)
    ]
    values, atom = (np.concatenate([file[name] for file in loaded]) for name in ("value", "atom"))
    return sparse.csr_matrix((values, (np.concatenate(place), atom)), shape=(images * rows * columns, atoms))


class Judge:
    """The objective by which every dictionary is evaluated: that of a fresh pursuit of the given signals with it
    (border free, gap 1e-3), recomputed here in float64 from the codes."""

    def __init__(self, signals, penalty, folder):
        self.signals, self.penalty, self.folder = np.stack(signals), penalty, Path(folder)
        self.files = write_signals(signals, self.folder, "judged")

    def __call__(self, atoms):
        atoms = atoms / np.linalg.norm(atoms, axis=(1, 2), keepdims=True)
        np.save(self.folder / "judged-atoms.npy", atoms)
        codes = self.folder / "codes"
        shutil.rmtree(codes, ignore_errors=True)
        codes.mkdir()
        lobcod(
            "encode",
            *self.files,
            "-o",
            codes,
            "--dictionary",
            self.folder / "judged-atoms.npy",
            "--penalty",
            self.penalty,
            "--base",
            "none",
            "--border",
            "free",
            "--tolerance",
            1e-3,
            "--precision",
            "f64",
        )
        matrix = read_codes(sorted(codes.glob("*.npz")), self.signals.shape, len(atoms))
        return float(Objective(self.signals, atoms, self.penalty, "free").value(matrix))


def write_signals(signals, folder, name):
    files = [Path(folder) / f"{name}-{i:03}.npy" for i in range(len(signals))]
    for path, samples in zip(files, signals):
        np.save(path, samples)
    return files


def first_atoms(count=81):
    """The random start that all learners share."""
    atoms = np.random.default_rng(0).standard_normal((count, SIDE, SIDE))
    return atoms / np.linalg.norm(atoms, axis=(1, 2), keepdims=True)
