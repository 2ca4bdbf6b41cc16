"""The paper's batch figure: objective against time of dictionary learning on Fruit (ten images of 100x100, penalty
20).

Learners: lobcod `atomwise`, `stochastic` (Algorithm 2, the paper's steps) and `batch`; SBDL with K-SVD and with
MOD; Algorithm 2 in numpy with SPAMS' LARS, the authors' own combination; SPORCO's mask-decoupled learner (Wohlberg
2016), its consensus learner (Garcia-Cardona 2017) and, with --full, its ConvBPDNDictLearn. The first of SPORCO's,
as lobcod and SBDL, leaves the border free; the other two learn with a periodic border. All dictionaries are judged
alike (common.Judge). With --full SPORCO's learners are given the best of four pairs of ADMM parameters, found by
short runs, as their own authors would.

    python paper/batch.py [--quick|--full]
"""

from lib.common import Results, images, parse, without_mean
from lib.learning import Experiment, keep_atoms, plot
from lib.titles import BATCH

# Penalty parameters of the two ADMM loops of SPORCO's learners.
SETTINGS = [(5.0, 10.0), (5.0, 1.0), (5.0, 0.2), (2.0, 1.0)]
# Best in a full run on Fruit.
USUAL = {"sporco_masked": (5.0, 1.0), "sporco_consensus": (5.0, 1.0), "sporco_admm": (5.0, 1.0)}


def tuned(experiment, learner, seconds, trial):
    """The learner with the best of the settings by short runs."""
    ends = {}
    for rho, rho_dictionary in SETTINGS:
        history = experiment.peer(learner, learner, trial, rho=rho, rho_dictionary=rho_dictionary)["history"]
        ends[rho, rho_dictionary] = history[-1]["objective"]
    rho, rho_dictionary = min(ends, key=ends.get)
    answer = experiment.peer(learner, learner, seconds, rho=rho, rho_dictionary=rho_dictionary)
    return {**answer, "tried": {f"rho {a}, dictionary {b}": value for (a, b), value in ends.items()}}


def main():
    options = parse(__doc__)
    full = options.size == "full"
    results = Results("batch", options)
    signals = [without_mean(image) for image in images("fruit/*.png", 10, 100)]
    experiment = Experiment(signals, signals, 20.0)
    limit = 300.0 if full else 20.0
    passes = [1, 2, 3, 5, 8, 13, 21, 34] + ([55, 89, 144, 200] if full else [])
    epochs = [1, 2, 4, 8, 16, 32, 64] + ([128, 256, 500] if full else [])
    results.part("lobcod-atomwise", lambda: experiment.ours("lobcod-atomwise", passes))
    results.part("lobcod-stochastic", lambda: experiment.ours("lobcod-stochastic", epochs, "--method", "stochastic"))
    results.part("lobcod-batch", lambda: experiment.ours("lobcod-batch", passes, "--method", "batch"))
    results.part("sbdl-ksvd", lambda: experiment.baseline("sbdl-ksvd", "ksvd", limit))
    results.part("sbdl-mod", lambda: experiment.baseline("sbdl-mod", "mod", limit))
    results.part("spams", lambda: experiment.peer("spams", "spams", limit / 3 if full else limit))
    for learner, (rho, rho_dictionary) in USUAL.items():
        if learner == "sporco_admm" and not full:
            continue
        work = lambda: experiment.peer(learner, learner, limit, rho=rho, rho_dictionary=rho_dictionary)
        results.part(learner, (lambda: tuned(experiment, learner, limit, limit / 15)) if full else work)
    keep_atoms(results.file("batch-atoms.npz"), experiment.atoms)
    plot(results.kept["parts"], BATCH, results.file("batch.png"), "Fruit, 10 images 100x100, penalty 20", 1.3)


if __name__ == "__main__":
    main()
