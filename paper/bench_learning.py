"""Objective against time of dictionary learning: lobcod beside its peers.

Two experiments of the paper, 81 atoms of 8x8 from the same random start, one thread, pinned to one core:
- fruit: ten 100x100 images in 0..255, penalty 20. Peers: Algorithm 2 in numpy with SPAMS' LARS (the paper's steps),
  SPORCO's consensus learner and SPORCO's ConvBPDNDictLearn, the better of the two with the better of some settings.
- mirflickr: a stream of forty 256x256 images in 0..1, penalty 0.1, judged on five others. Peer: SPORCO's online learner.

Every dictionary, ours and theirs, is judged by a fresh pursuit of lobcod (border free, gap 1e-3). Peers are charged the
CPU time of their process, the clock stopped while a dictionary is put aside; lobcod is charged its wall time. Set up as in
bench_pursuit.py; `--plot` needs matplotlib.

    .venv-peers/bin/python paper/bench_learning.py fruit mirflickr --out learning.json
    .venv-peers/bin/python paper/bench_learning.py --plot docs/learning.svg --from learning.json
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

import learning_peers
from pursuit_peers import SIDE

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("LOBCOD_DATA", ROOT.parent / "shared" / "data"))
BINARY = ROOT / "target" / "release" / "lobcod"
EXPERIMENTS = {"fruit": {"train": "fruit/*.png", "test": "fruit/*.png", "penalty": 20.0, "scale": 255.0},
               "mirflickr": {"train": "mirflickr/train/*.png", "test": "mirflickr/test/*.png", "penalty": 0.1, "scale": 1.0}}
TITLES = {"lobcod-atomwise": "lobcod, atomwise", "lobcod-stochastic": "lobcod, stochastic (Algorithm 2)",
          "lobcod-batch": "lobcod, batch", "lobcod-stream": "lobcod, stream", "spams": "Algorithm 2, numpy and SPAMS",
          "sporco_consensus": "SPORCO, consensus", "sporco_admm": "SPORCO, ConvBPDNDictLearn",
          "sporco_online": "SPORCO, online"}
# Penalty parameters of the two ADMM loops tried for SPORCO's batch learners.
SETTINGS = [(5.0, 10.0), (5.0, 1.0), (5.0, 0.2), (2.0, 1.0)]


def files(experiment, part):
    return sorted(DATA.glob(EXPERIMENTS[experiment][part]))


def load(experiment):
    """Training images less their 8x8 local mean (4 pixels before, 3 after, mirrored)."""
    signals = []
    for path in files(experiment, "train"):
        image = np.asarray(Image.open(path).convert("L"), dtype=np.float64) / 255 * EXPERIMENTS[experiment]["scale"]
        mirrored = np.pad(image, (SIDE // 2, SIDE // 2 - 1), mode="reflect")
        signals.append(image - np.lib.stride_tricks.sliding_window_view(mirrored, (SIDE, SIDE)).mean(axis=(2, 3)))
    return signals


def start():
    atoms = np.random.default_rng(0).standard_normal((81, SIDE, SIDE))
    return atoms / np.linalg.norm(atoms, axis=(1, 2), keepdims=True)


def pinned(command, core):
    single = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    done = subprocess.run(["taskset", "-c", str(core), *map(str, command)], stdout=subprocess.PIPE, check=True,
                          env={**os.environ, **single, "PYTHONWARNINGS": "ignore"})
    return done.stdout


def common(experiment):
    setting = EXPERIMENTS[experiment]
    return ["--penalty", setting["penalty"], "--scale", setting["scale"], "--threads", 1, "--json", "--quiet"]


def score(experiment, dictionary, core):
    """Objective of a fresh pursuit of the test images."""
    return json.loads(pinned([BINARY, "encode", *files(experiment, "test"), "--dictionary", dictionary,
                              *common(experiment)], core))["objective"]


def scored(experiment, snapshots, core):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "atoms.npy"
        points = []
        for seconds, atoms in snapshots:
            np.save(path, atoms)
            points.append({"seconds": seconds, "objective": score(experiment, path, core)})
        return points


def peer_process(options):
    """The body of a peer's own process: dictionaries at times that grow by a factor, as an .npz file."""
    snapshots, clock = [], {"began": time.process_time(), "paused": 0.0, "passes": 0}

    def snapshot(atoms):
        now = time.process_time()
        seconds = now - clock["began"] - clock["paused"]
        clock["passes"] += 1
        over = seconds > options.limit
        if over or not snapshots or seconds > 1.35 * snapshots[-1][0]:
            snapshots.append((seconds, np.array(atoms, dtype=np.float64)))
        clock["paused"] += time.process_time() - now
        return over

    setting = dict(zip(("rho", "rho_dictionary"), options.setting or ()))
    signals = load(options.experiments[0])
    stacked = np.stack(signals)
    getattr(learning_peers, options.peer)(stacked, start(), EXPERIMENTS[options.experiments[0]]["penalty"], snapshot, **setting)
    np.savez(options.out, seconds=[s for s, _ in snapshots], atoms=[a for _, a in snapshots], passes=clock["passes"])


def run_peer(experiment, peer, limit, options, setting=()):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "snapshots.npz"
        command = [sys.executable, __file__, experiment, "--peer", peer, "--limit", limit, "--out", path]
        print(f"{experiment}: {peer} {setting} for {limit:g} s", file=sys.stderr, flush=True)
        pinned([*command, "--setting", *setting] if setting else command, options.core)
        found = np.load(path)
        points = scored(experiment, zip(found["seconds"].tolist(), found["atoms"]), options.core)
        return {"name": peer, "setting": list(setting), "passes": int(found["passes"]), "history": points}


def run_ours(experiment, name, core, *extra):
    with tempfile.TemporaryDirectory() as folder:
        first, output = Path(folder) / "first.npy", Path(folder) / "learnt.npz"
        np.save(first, start())
        print(f"{experiment}: {name}", file=sys.stderr, flush=True)
        report = json.loads(pinned([BINARY, "learn", *files(experiment, "train"), "-o", output, "--init", first,
                                    *common(experiment), *extra], core))
        history = [{"seconds": p["seconds"], "objective": p["objective"]} for p in report["history"]]
        return {"name": name, "passes": report["passes"], "history": history,
                "seconds": report["seconds"], "fresh": score(experiment, output, core)}


def run_stream(core):
    """Test objective after more and more of the forty images, once through."""
    with tempfile.TemporaryDirectory() as folder:
        first, points, images = Path(folder) / "first.npy", [], files("mirflickr", "train")
        np.save(first, start())
        for count in (1, 2, 5, 10, 20, len(images)):
            output = Path(folder) / "learnt.npz"
            report = json.loads(pinned([BINARY, "learn", *images[:count], "--stream", "-o", output, "--init", first,
                                        *common("mirflickr")], core))
            points.append({"seconds": report["seconds"], "objective": score("mirflickr", output, core)})
        return {"name": "lobcod-stream", "passes": 1, "history": points}


def fruit(options):
    runs = [run_ours("fruit", "lobcod-atomwise", options.core, "--passes", 200),
            run_ours("fruit", "lobcod-batch", options.core, "--method", "batch", "--passes", 200),
            run_ours("fruit", "lobcod-stochastic", options.core, "--method", "stochastic", "--passes", 500),
            run_peer("fruit", "spams", 80 * options.share, options)]
    for peer in ("sporco_consensus", "sporco_admm"):
        tried = [run_peer("fruit", peer, 20 * options.share, options, setting) for setting in SETTINGS]
        best = min(tried, key=lambda run: run["history"][-1]["objective"])
        runs.append(run_peer("fruit", peer, 300 * options.share, options, tuple(best["setting"])))
    return runs


def mirflickr(options):
    stream = run_stream(options.core)
    return [stream, run_peer("mirflickr", "sporco_online", 20 * stream["history"][-1]["seconds"] * options.share, options)]


def table(experiment, runs):
    lines = [f"| {experiment} | passes | s | objective |", "|---|---|---|---|"]
    for run in runs:
        for point in run["history"][-1:]:
            lines.append(f"| {TITLES[run['name']]} | {run['passes']} | {point['seconds']:.1f} | {point['objective']:.6g} |")
    ours = next(run for run in runs if run["name"] in ("lobcod-atomwise", "lobcod-stream"))
    for run in runs:
        if run is not ours and not run["name"].startswith("lobcod"):
            best = min(run["history"], key=lambda p: p["objective"])
            reached = next((p["seconds"] for p in ours["history"] if p["objective"] <= best["objective"]), None)
            when = f"lobcod is there after {reached:.3g} s ({best['seconds'] / reached:.3g} times sooner)" if reached else "lobcod is not there"
            lines.append(f"\n{TITLES[run['name']]}: {best['objective']:.6g} after {best['seconds']:.3g} s; {when}.")
    return "\n".join(lines)


def plot(results, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(1, len(results), figsize=(5.5 * len(results), 4))
    for axis, (experiment, runs) in zip(np.atleast_1d(axes), results.items()):
        for run in runs:
            ours = run["name"].startswith("lobcod")
            axis.plot([p["seconds"] for p in run["history"]], [p["objective"] for p in run["history"]],
                      "-" if ours else "--", marker=None if len(run["history"]) > 30 else "o", markersize=3,
                      label=TITLES[run["name"]])
        axis.set(xscale="log", title=experiment, xlabel="seconds, one core", ylabel="objective")
        if experiment == "fruit":
            axis.set_ylim(9.0e6, 12.0e6)
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("experiments", nargs="*", choices=[*EXPERIMENTS, []])
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--share", type=float, default=1.0, help="of the time that peers are given")
    parser.add_argument("--out", type=Path, help="JSON file of all curves")
    parser.add_argument("--from", dest="source", type=Path, help="curves of an earlier run")
    parser.add_argument("--plot", type=Path, help="picture of the curves")
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    parser.add_argument("--limit", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--setting", nargs=2, type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        return peer_process(options)
    results = json.loads(options.source.read_text()) if options.source else {}
    for experiment in options.experiments:
        results[experiment] = {"fruit": fruit, "mirflickr": mirflickr}[experiment](options)
        if options.out:
            options.out.write_text(json.dumps(results, indent=1))
    for experiment, runs in results.items():
        print(table(experiment, runs) + "\n")
    if options.plot:
        plot(results, options.plot)


if __name__ == "__main__":
    main()
