"""Curves of objective against time of dictionary learners, for batch.py and online.py.

A curve consists of the dictionaries that a learner had at growing times, all evaluated by `common.Judge`. Every
learner gets the same signals (their local mean removed), the same first atoms, one thread of one core and real-time
priority. Peers in Python are charged the processor time of their process, with the clock stopped while a dictionary
is stored; lobcod and the baselines in Rust are charged wall time. lobcod runs again for every point, with more
passes; the certified pursuit that ends its run comes after its dictionary and does not count, as no pursuit after
the learning counts for the others.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from lib import learning_peers
from lib.common import EXAMPLES, Judge, first_atoms, lobcod, run, steady, write_signals

GROWTH = 1.35


class Experiment:
    """Signals to learn from, signals to evaluate on, and a folder for files."""

    def __init__(self, train, judged, penalty):
        self.folder = Path(tempfile.mkdtemp(prefix="lobcod-learning-"))
        self.train, self.penalty = train, penalty
        self.judge = Judge(judged, penalty, self.folder)
        self.files = write_signals(train, self.folder, "train")
        self.first = self.folder / "first.npy"
        np.save(self.first, first_atoms())
        self.atoms = {}

    def curve(self, name, found):
        """Judges (seconds, passes, atoms); keeps the last atoms for the figure of the dictionaries."""
        history = [
            {"seconds": seconds, "passes": passes, "objective": self.judge(atoms)} for seconds, passes, atoms in found
        ]
        self.atoms[name] = found[-1][2].astype(np.float32)
        return {"history": history}

    def ours(self, name, counts, *words):
        return self.learnt(name, [(self.files, count, count) for count in counts], *words)

    def online(self, name, rounds, *words):
        """One pass over the files, repeated, so that every visit is that of a new image, without codes from an
        earlier one."""
        return self.learnt(name, [(self.files * count, 1, count) for count in rounds], *words)

    def learnt(self, name, runs, *words):
        """`runs`: files, passes over them, and passes over the images as they are counted. The tolerance is that of
        the pursuit which follows the learning, which is not measured here."""
        found = []
        for files, passes, count in runs:
            output = self.folder / "learnt.npz"
            report = lobcod(
                "learn",
                *files,
                "-o",
                output,
                "--init",
                self.first,
                "--penalty",
                self.penalty,
                "--base",
                "none",
                "--passes",
                passes,
                "--tolerance",
                0.5,
                *words,
            )
            found.append((report["history"][-1]["seconds"], count, np.load(output)["atoms"]))
        return {**self.curve(name, found), "words": " ".join(map(str, words))}

    def stream(self, name, counts):
        """Once through more and more of the signals."""
        found = []
        for count in counts:
            output = self.folder / "learnt.npz"
            report = lobcod(
                "learn",
                *self.files[:count],
                "--stream",
                "-o",
                output,
                "--init",
                self.first,
                "--penalty",
                self.penalty,
                "--base",
                "none",
            )
            found.append((report["seconds"], count, np.load(output)["atoms"]))
        return {**self.curve(name, found), "words": "--stream"}

    def baseline(self, name, method, seconds):
        """A learner of crates/lobcod-baselines."""
        into = Path(tempfile.mkdtemp(dir=self.folder))
        output, _ = steady(
            [EXAMPLES / "baseline_learn", method, self.first, self.penalty, seconds, into, *self.files],
            3 * seconds + 120,
        )
        lines = [line.split() for line in output.splitlines()]
        return self.curve(
            name, [(float(s), int(passes), np.load(into / f"{i:03}.npy")) for i, (s, passes) in enumerate(lines)]
        )

    def peer(self, name, learner, seconds, **setting):
        """A learner of learning_peers.py, in a process of its own."""
        task, answer = self.folder / "task.npz", self.folder / "answer.npz"
        np.savez(task, signals=np.stack(self.train), first=first_atoms(), penalty=self.penalty)
        run(
            [sys.executable, "-m", "lib.learning", learner, task, answer, seconds, json.dumps(setting)],
            3 * seconds + 120,
        )
        kept = np.load(answer)
        return {
            **self.curve(name, list(zip(kept["seconds"].tolist(), kept["passes"].tolist(), kept["atoms"]))),
            "setting": setting,
        }


def peer_process(learner, task, answer, limit, setting):
    """The body of a peer's process: dictionaries at times that grow by a factor."""
    snapshots, clock = [], {"began": time.process_time(), "paused": 0.0, "passes": 0}

    def snapshot(atoms):
        now = time.process_time()
        seconds = now - clock["began"] - clock["paused"]
        clock["passes"] += 1
        over = seconds > float(limit)
        if over or not snapshots or seconds > GROWTH * snapshots[-1][0]:
            snapshots.append((seconds, clock["passes"], np.array(atoms, dtype=np.float64)))
        clock["paused"] += time.process_time() - now
        return over

    given = np.load(task)
    getattr(learning_peers, learner)(
        given["signals"], given["first"], float(given["penalty"]), snapshot, **json.loads(setting)
    )
    seconds, passes, atoms = zip(*snapshots)
    np.savez(answer, seconds=seconds, passes=passes, atoms=atoms)


def keep_atoms(path, atoms):
    """The last dictionaries, for dictionaries.py; those of parts that were not run again stay."""
    kept = dict(np.load(path)) if path.exists() else {}
    np.savez_compressed(path, **{**kept, **atoms})


def plot(parts, titles, file, title, top):
    """Objective against time, a line for each part; lobcod solid, the others dashed."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(7, 4.4))
    for name, part in parts.items():
        if "history" in part:
            axis.plot(
                [p["seconds"] for p in part["history"]],
                [p["objective"] for p in part["history"]],
                marker="o",
                markersize=3,
                linestyle="-" if name.startswith("lobcod") else "--",
                label=titles[name],
            )
    lowest = min(p["objective"] for part in parts.values() for p in part.get("history", []))
    axis.set(
        xscale="log",
        title=title,
        xlabel="seconds, one core",
        ylabel="objective of a fresh pursuit",
        ylim=(lowest * 0.995, lowest * top),
    )
    axis.grid(alpha=0.3)
    axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    peer_process(*sys.argv[1:])
