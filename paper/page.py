"""One page of all results: ours, the peers' and the paper's figures side by side, and the machine they come from.

    python paper/page.py        # paper/results/*.json -> paper/results/README.md
"""
import json

import batch
import fusion_figure
import inpainting
import online
from common import parse
from learning import sooner

FOLDER = None


def load(*names):
    """The first of these that is there with something in it."""
    kept = [json.loads(path.read_text()) for path in (FOLDER / f"{name}.json" for name in names) if path.exists()]
    return next((one for one in kept if one and (isinstance(one, list) or one.get("parts", True))), None)


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|---" * len(head) + "|", *("| " + " | ".join(map(str, row)) + " |" for row in rows), ""]


def number(value, digits=3):
    return "-" if value is None else f"{value:.{digits}g}"


def origin(kept):
    """Size, date and load of the parts of a file."""
    parts = kept["parts"].values()
    sizes = " and ".join(sorted({part["size"] for part in parts}))
    loads = [part["load_average"] for part in parts]
    dates = sorted({part["date"] for part in parts})
    seconds = sum(part["took_seconds"] for part in parts)
    return [f"`python {kept['script']}`, {sizes} size, {' to '.join({dates[0]: 0, dates[-1]: 0})}, {seconds / 60:.1f} minutes, load average {min(loads):g} to "
            f"{max(loads):g}, {kept['data']}.", ""]


def failures(parts, titles):
    return [f"- {titles.get(name, name)}: {part['failed']}" for name, part in parts.items() if "failed" in part]


def curves(name, titles, ours, paper):
    kept = load(name)
    if not kept:
        return [f"Not run: `python paper/{name}.py`.", ""]
    parts = kept["parts"]
    rows = []
    for key in (key for key in titles if "history" in parts.get(key, {})):
        last = parts[key]["history"][-1]
        row = [titles[key], last["passes"], number(last["seconds"]), f"{last['objective']:.6g}"]
        if key.startswith("lobcod") or ours not in parts:
            rows.append([*row, "", ""])
            continue
        _, theirs, mine = sooner(parts[ours]["history"], parts[key]["history"])
        rows.append([*row, "not reached" if mine is None else number(mine), "" if mine is None else number(theirs / mine)])
    head = ["learner", "passes", "seconds", "objective", f"{titles[ours]}: as low after, s", "times sooner"]
    return [*origin(kept), *table(head, rows), *failures(parts, titles), paper, "", f"![objective against time]({name}.png)", ""]


def dictionaries():
    kept = load("dictionaries")
    if not kept:
        return ["Not run: `python paper/dictionaries.py`.", ""]
    lines = ["Mean best correlation of an atom with one of the other dictionary, up to sign and a shift of two pixels (1: the same atoms).", ""]
    for name, titles in (("batch", batch.TITLES), ("online", online.TITLES)):
        part = kept["parts"].get(name)
        if part:
            likeness = part["likeness"]
            lines += table([f"{name}; random atoms: {part['random']}", *(titles[key] for key in likeness)],
                           [[titles[one], *likeness[one].values()] for one in likeness])
            lines += [f"![dictionaries]({name}-dictionaries.png)", ""]
    return lines


def decibels(cell):
    """PSNR and seconds, where they are known."""
    if "psnr_db" not in cell:
        return "-"
    return f"{cell['psnr_db']:.2f}" + (f" ({cell['seconds']:.1f} s)" if cell["seconds"] is not None else "")


def inpainting_table():
    kept = load("inpainting")
    if not kept:
        return ["Not run: `python paper/inpainting.py`.", ""]
    parts = kept["parts"]
    found = {key.split("/")[1] for key in parts}
    names = [name for name in inpainting.IMAGES if name in found] + sorted(found - set(inpainting.IMAGES))
    rows = []
    for title, values in inpainting.PAPER.items() if found & set(inpainting.IMAGES) else ():
        rows.append([f"paper: {title}", *(f"{values[inpainting.IMAGES.index(n)]:.2f}" if n in inpainting.IMAGES else "-" for n in names)])
    for key, title in inpainting.TITLES.items():
        cells = [parts.get(f"{key}/{name}", {}) for name in names]
        if any("psnr_db" in cell for cell in cells):
            rows.append([title, *map(decibels, cells)])
    return [*origin(kept), *table(["PSNR dB", *names], rows), *failures(parts, {}),
            "One thread; seconds of lobcod include the choice of its penalty; those of SBDL are of the one penalty shown. SBDL: 60 turns, the atoms learnt in "
            "the second half.", ""]


def fusion():
    kept = load("fusion")
    if not kept:
        return ["Not run: `python paper/fusion_figure.py`.", ""]
    rows = []
    for name, part in kept["parts"].items():
        if "psnr_db" in part:
            said = fusion_figure.PAPER.get(name.split(",")[0], {})
            scores = [f"{score['without_rim']:.2f}" + (f" ({score['whole']:.2f})" if "whole" in score else "") for score in part["psnr_db"].values()]
            rows.append([name, *scores, said.get("paper", "-"), said.get("liu2016_in_paper", "-")])
    ways = [*fusion_figure.WAYS, fusion_figure.LIU]
    pictures = sorted(FOLDER.glob("fusion-scene-*.png"))
    return [*origin(kept), "PSNR in dB without the rim (of the whole picture). The paper does not name its splits.", "",
            *table(["pair", *ways, "paper: LoBCoD", "paper: Liu 2016"], rows), *failures(kept["parts"], {}),
            *(f"![zooms and errors]({path.name})" for path in pictures), ""]


def complexity():
    kept = load("complexity")
    if not kept:
        return ["Not run: `python paper/complexity.py`.", ""]
    rows = []
    for name, part in kept["parts"].items():
        if "points" in part:
            ends = part["points"][0], part["points"][-1]
            span = " to ".join(f"{end[part['variable']]:.4g}" for end in ends)
            seconds = " to ".join(number(end["seconds"]) for end in ends)
            rows.append([name, span, seconds, part["slope_seconds"], part["slope_seconds_last"], part["slope_memory"], part["bytes_each"],
                         part["memory"].split("_")[0]])
    head = ["what, against", "from, to", "seconds", "slope of time", "between the last two", "slope of memory", "bytes for one more", "memory"]
    return [*origin(kept), *table(head, rows), *failures(kept["parts"], {}), "![time and memory against pixels](complexity.png)", ""]


def claims():
    kept = load("claims")
    if not kept:
        return ["Not run: `python paper/claims.py`.", ""]
    parts, lines = {name: part for name, part in kept["parts"].items() if "failed" not in part}, origin(kept)
    if "parallel" in parts:
        lines += table(["parallel", "1 thread, s", "2 threads, s", "ratio", "same bits"],
                       [[name, *map(number, part["seconds"].values()), part["ratio"], part["same_bits"]]
                        for name, part in parts["parallel"].items() if isinstance(part, dict)])
    if "one_image" in parts:
        lines += table(["Algorithm 2 on one image: epochs", "seconds", "objective"],
                       [[p["epochs"], number(p.get("seconds")), f"{p['objective']:.5g}"] for p in parts["one_image"]["points"]])
    if "changing_stream" in parts:
        part = parts["changing_stream"]
        lines += table([f"stream that changes after {part['switch_after']} pictures: seen", "objective, first kind", "objective, second kind"],
                       [[p["seen"], f"{p['first kind']:.5g}", f"{p['second kind']:.5g}"] for p in part["points"]])
    if "units" in parts:
        lines += table(["other units: factor", "objective / factor^2", "sweeps", "seconds", "status"],
                       [[number(p["scale"]), f"{p['objective_over_scale_squared']:.8g}", p["sweeps"], number(p["seconds"]), p["status"]]
                        for p in parts["units"]["points"]])
    if "rho" in parts:
        part = parts["rho"]
        lines += table(["solver", "seconds", "above the optimum"],
                       [[f"SPORCO ADMM, rho {p['rho']:g}, 100 iterations", number(p["seconds"]), f"{p['above_optimum']:.2%}"] for p in part["sporco"]]
                       + [["lobcod, no such parameter", number(part["lobcod"]["seconds"]), f"{part['lobcod']['above_optimum']:.4%}"]])
    if "step_size" in parts:
        part = parts["step_size"]
        lines += table([f"Algorithm 2 from {part['start']:.4g}, 15 epochs: step size", "objective"],
                       [[p["step_size"], f"{p['objective']:.5g}"] for p in part["points"]])
    if "adaptive" in parts:
        lines += table(["caps", "codes left, right", "most of a needle left, right", "objective", "seconds"],
                       [[name, f"{p['codes_left']}, {p['codes_right']}", f"{p['most_left']}, {p['most_right']}", f"{p['objective']:.5g}", number(p["seconds"])]
                        for name, p in parts["adaptive"].items() if isinstance(p, dict)])
    return lines + failures(kept["parts"], {})


def pursuit():
    rows = load("pursuit--full", "pursuit--quick")
    if not rows:
        return ["Not run: `python paper/bench_pursuit.py --quick --out paper/results/pursuit--quick.json`.", ""]
    import bench_pursuit
    times = lambda row: [number(value) if value is not None else "not reached" for value in row["seconds"]]
    return ["`python paper/bench_pursuit.py`: seconds to within 1, 0.1 and 0.01 % of the optimum, one thread.", "",
            *table(["work", "solver", "border", "1 %", "0.1 %", "0.01 %", "peak MB", "load average"],
                   [[row["workload"], bench_pursuit.TITLES.get(row["solver"], row["solver"]), row["border"], *times(row),
                     f"{row['peak_memory_bytes'] / 1e6:.0f}", f"{row['load_average']:.1f}"] for row in rows])]


def one_dimension():
    kept = load("one-dimension--full", "one-dimension--quick")
    if not kept:
        return ["Not run: `python paper/bench_1d.py --quick --out paper/results/one-dimension--quick.json`.", ""]
    times = lambda row: [number(value) if value is not None else "not reached" for value in row["seconds"]]
    return [f"`python paper/bench_1d.py`: {kept['samples']} samples, {kept['atoms']} atoms of {kept['length']}, {kept['nonzeros']} codes; seconds to within 1, 0.1 and 0.01 % of the "
            "optimum, one thread.", "", *table(["solver", "1 %", "0.1 %", "0.01 %"], [[row["solver"], *times(row)] for row in kept["rows"]])]


def overhead():
    rows = load("overhead")
    if not rows:
        return ["Not run: `python python/benches/overhead.py --out paper/results/overhead.json`.", ""]
    return ["`python python/benches/overhead.py`: what Python adds to the time of the solver, medians of 9, one thread.", "",
            *table(["image", "solver, s", "added, ms", "share"],
                   [[f"{row['side']}x{row['side']} {row['dtype']}", number(row["solver_seconds"]), number(1e3 * row["added_seconds"]),
                     f"{row['share']:.1%}"] for row in rows])]


def the_machine():
    found = [kept["machine"] for kept in map(load, ("batch", "online", "complexity", "claims", "inpainting", "fusion")) if kept]
    if not found:
        return []
    one = found[0]
    priority = "real-time priority (`chrt -f 1`)" if one["real_time_priority"] else "ordinary priority"
    commits = ", ".join(sorted({kept["commit"] for kept in found}))
    return [f"{one['processor']}, {one['cores']} cores, {one['memory_gib']} GiB, {one['system']}, Python {one['python']}, numpy {one['numpy']}. Every solver, ours "
            f"and theirs, runs on one thread pinned to one core with {priority}. Peers are charged processor time; lobcod and the baselines in Rust wall time, "
            "lobcod never more than its processor time. So other work on the machine, which the load averages tell of, hardly counts but through the "
            f"caches. Commits: {commits}.", ""]


def main():
    global FOLDER
    FOLDER = parse(__doc__).results
    sections = {
        "Batch learning (the paper's run-time figure)": curves("batch", batch.TITLES, "lobcod-atomwise",
                                                               "The paper's plot, read off: its method reaches about 9.2e6 after about 530 s."),
        "Online learning (the paper's second run-time figure)": curves("online", online.TITLES, "lobcod-stream",
                                                                       "The paper's plot, read off: its method falls from 399 to 349."),
        "Dictionaries side by side": dictionaries(), "Inpainting, half of the pixels missing": inpainting_table(), "Fusion": fusion(),
        "Complexity": complexity(), "The claims of section V": claims(), "Pursuit": pursuit(),
        "Pursuit of signals (DICOD's case)": one_dimension(), "Python": overhead()}
    lines = ["# The paper beside lobcod and its rivals", "", "Made by `cargo xtask paper` (`--quick`: minutes, `--full`: hours) from the JSON files beside it. "
             "[docs/explanation/paper.md](../../docs/explanation/paper.md) says what follows from it.", "", *the_machine()]
    for title, body in sections.items():
        lines += [f"## {title}", "", *body]
    (FOLDER / "README.md").write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
