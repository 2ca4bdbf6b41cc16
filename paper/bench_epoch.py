"""One epoch of Algorithm 2 on the Fruit images: `lobcod learn --method stochastic` and the same schedule on SPAMS.

    python paper/bench_epoch.py [--repeats 3]

The two run in turn on one thread of one core, from the same atoms, penalty 20, 12 epochs each; the first, which
begins without codes, does not count. SPAMS is charged the processor time of its process, lobcod its wall time.
Needs paper/requirements-peers.txt.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from lib import learning_peers
from lib.common import BINARY
from lib.workloads import DICTIONARY, image_files, load_signals, pinned

PENALTY, EPOCHS = 20.0, 12


def peer_process():
    """The body of SPAMS' own process: milliseconds of its epochs as JSON on stdout."""
    times = [time.process_time()]

    def snapshot(_):
        times.append(time.process_time())
        return len(times) > EPOCHS

    learning_peers.spams(load_signals("fruit"), np.load(DICTIONARY), PENALTY, snapshot)
    print(json.dumps((1000 * np.diff(times)).tolist()))


def ours(core):
    with tempfile.TemporaryDirectory() as folder:
        report = pinned(
            [
                BINARY,
                "learn",
                *image_files("fruit"),
                "-o",
                Path(folder) / "learnt.npz",
                "--init",
                DICTIONARY,
                "--method",
                "stochastic",
                "--penalty",
                PENALTY,
                "--passes",
                EPOCHS,
                "--threads",
                1,
                "--json",
                "--quiet",
            ],
            core,
        )
    return (1000 * np.diff([0.0, *(point["seconds"] for point in report["history"])])).tolist()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        return peer_process()
    for _ in range(options.repeats):
        own, theirs = ours(options.core)[1:], pinned([sys.executable, __file__, "--peer"], options.core)[1:]
        own, theirs = statistics.median(own), statistics.median(theirs)
        print(f"lobcod {own:.1f} ms, SPAMS {theirs:.0f} ms an epoch: {theirs / own:.2f} times", flush=True)


if __name__ == "__main__":
    main()
