"""The paper's online figure: test objective against time, learning from a stream of 40 MIRFLICKR images (256x256,
0..1, penalty 0.1).

Learners: lobcod `--stream` (once through), lobcod `stochastic` with the paper's online steps (momentum 0.8, 0.1,
shrinking every 200 images) repeatedly, every visit as that of a new image; the spatial learner of Liu 2018
(crates/lobcod-baselines; its pursuit is lobcod's, so only its steps are its own); SPORCO's online learner (Liu 2018
in the frequency domain) and its masked variant, which leaves the border free. Every dictionary is evaluated on five
other images (common.Judge).

    python paper/online.py [--quick|--full]
"""

from lib.common import Results, images, parse, without_mean
from lib.learning import Experiment, keep_atoms, plot
from lib.titles import ONLINE


def main():
    options = parse(__doc__)
    full = options.size == "full"
    results = Results("online", options)
    prepared = lambda pattern, count: [without_mean(image) / 255 for image in images(pattern, count, 256)]
    experiment = Experiment(prepared("mirflickr/train/*.png", 40), prepared("mirflickr/test/*.png", 5), 0.1)
    limit = 180.0 if full else 30.0
    results.part("lobcod-stream", lambda: experiment.stream("lobcod-stream", [1, 2, 5, 10, 20, 40]))
    steps = ["--method", "stochastic", "--step", "momentum", "--step-size", 0.1, "--decay", "online"]
    results.part(
        "lobcod-stochastic",
        lambda: experiment.online("lobcod-stochastic", [1, 2, 5, 10] + ([25, 50, 100] if full else []), *steps),
    )
    results.part("spatial", lambda: experiment.baseline("spatial", "spatial", limit))
    results.part("sporco_online", lambda: experiment.peer("sporco_online", "sporco_online", limit))
    results.part("sporco_online_masked", lambda: experiment.peer("sporco_online_masked", "sporco_online_masked", limit))
    keep_atoms(results.file("online-atoms.npz"), experiment.atoms)
    plot(
        results.kept["parts"],
        ONLINE,
        results.file("online.png"),
        "MIRFLICKR, 40 images, evaluated on 5 others, penalty 0.1",
        1.25,
    )


if __name__ == "__main__":
    main()
