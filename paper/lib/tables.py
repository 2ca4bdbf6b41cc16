"""The tables of the documentation, made from the result files; standard library only.

Every function of TABLES returns the lines of one table with a line that names the command, the machine, the version
and the date. A file in results/tables is a table as it is: columns and rows.
"""

import json
import re
import textwrap
from pathlib import Path

from lib import titles

RESULTS = Path(__file__).resolve().parents[1] / "results"


def load(name):
    """The result of that name, the full run before the quick one."""
    files = (RESULTS / f"{name}{size}.json" for size in ("", "--full", "--quick"))
    return next((json.loads(path.read_text()) for path in files if path.exists()), None)


def table(head, rows):
    line = lambda cells: "| " + " | ".join(map(str, cells)) + " |"
    return [line(head), "|---" * len(head) + "|", *map(line, rows), ""]


def number(value, digits=3):
    return "-" if value is None else f"{value:.{digits}g}"


def reached(seconds):
    return "not reached" if seconds is None else number(seconds)


def wrapped(text):
    return textwrap.wrap(text, 100, break_long_words=False, break_on_hyphens=False)


def origin(command, machine, version, commit, date, load_average=None, more=""):
    """The line that says where a table comes from."""
    busy = "" if load_average is None else f", load average {load_average}"
    more = f"; {more}" if more else ""
    return [*wrapped(f"`{command}`; {machine}{busy}; version {version} ({commit}), {date}{more}."), ""]


def origin_of_parts(kept):
    """The same for a script whose parts may have been run one by one."""
    parts = kept["parts"].values()
    sizes = " and ".join(sorted({part["size"] for part in parts}))
    loads = sorted(part["load_average"] for part in parts)
    dates = sorted({part["date"] for part in parts})
    one = kept["machine"]
    machine = f"{one['processor']}, {one['cores']} cores, {one['memory_gib']} GiB"
    days = " to ".join(dict.fromkeys((dates[0], dates[-1])))
    busy = " to ".join(dict.fromkeys((f"{loads[0]:g}", f"{loads[-1]:g}")))
    version = kept.get("version", "0.1.0")
    more = f"{sizes} size, {kept['data']}"
    return origin(f"python {kept['script']}", machine, version, one["commit"], days, busy, more)


def origin_of(kept):
    """The same for a file with one command."""
    loads = [row["load_average"] for row in kept["rows"] if "load_average" in row]
    busy = f"{max(loads):.1f}" if loads else None
    named = (kept[key] for key in ("command", "machine", "version", "commit", "date"))
    return origin(*named, busy, kept.get("note", ""))


def stored(name):
    """A table as it is in results/tables."""
    kept = json.loads((RESULTS / "tables" / f"{name}.json").read_text())
    return [*table(kept["columns"], kept["rows"]), *origin_of({**kept, "rows": []})]


def failures(parts, names):
    return [f"- {names.get(key, key)}: {part['failed']}" for key, part in parts.items() if "failed" in part]


def pursuit():
    """Seconds to within 1, 0.1 and 0.01 % of the optimum, and the ratio to lobcod with the same border."""
    kept = load("pursuit")
    ours = {
        (row["workload"], row["border"]): row["seconds"] for row in kept["rows"] if row["solver"].startswith("lobcod")
    }
    rows = []
    for row in kept["rows"]:
        base = ours[row["workload"], row["border"]]
        ratios = [number(a / b) if a else "-" for a, b in zip(row["seconds"], base, strict=True)]
        same = row["solver"].startswith("lobcod")
        name = titles.PURSUIT[row["solver"]]
        memory = f"{row['peak_memory_bytes'] / 1e6:.0f}"
        times = map(reached, row["seconds"])
        rows.append([row["workload"], name, row["border"], *times, "1" if same else " / ".join(ratios), memory])
    head = ["workload", "solver", "border", "1 %", "0.1 %", "0.01 %", "relative to lobcod", "peak MB"]
    return [*table(head, rows), *origin_of(kept)]


def one_dimension():
    kept = load("one-dimension")
    base = next(row["seconds"] for row in kept["rows"] if row["solver"] == "lobcod, f64")
    rows = []
    for row in kept["rows"]:
        ratios = [number(a / b) if a else "-" for a, b in zip(row["seconds"], base, strict=True)]
        ours = row["solver"].startswith("lobcod")
        rows.append([row["solver"], *map(reached, row["seconds"]), "" if ours else " / ".join(ratios)])
    what = f"{kept['samples']} samples, {kept['atoms']} atoms of {kept['length']}"
    return [*table([what, "1 %", "0.1 %", "0.01 %", "relative to lobcod, f64"], rows), *origin_of(kept)]


def sooner(ours, theirs):
    """When `ours` is first as low as `theirs` gets: their objective, their seconds, our seconds or None."""
    best = min(theirs, key=lambda point: point["objective"])
    when = next((point["seconds"] for point in ours if point["objective"] <= best["objective"]), None)
    return best["objective"], best["seconds"], when


def curves(name, names, ours):
    kept = load(name)
    parts, rows = kept["parts"], []
    for key in (key for key in names if "history" in parts.get(key, {})):
        last = parts[key]["history"][-1]
        row = [names[key], last["passes"], number(last["seconds"]), f"{last['objective']:.6g}"]
        if key.startswith("lobcod"):
            rows.append([*row, "", ""])
            continue
        _, theirs, mine = sooner(parts[ours]["history"], parts[key]["history"])
        rows.append([*row, reached(mine), "" if mine is None else number(theirs / mine)])
    head = ["learner", "passes", "seconds", "objective", f"{names[ours]}: as low after, s", "times faster"]
    return [*table(head, rows), *failures(parts, names), *origin_of_parts(kept)]


def batch():
    return curves("batch", titles.BATCH, "lobcod-atomwise")


def online():
    return curves("online", titles.ONLINE, "lobcod-stream")


def dictionaries():
    """How similar the learnt dictionaries are."""
    kept, lines = load("dictionaries"), []
    for name, names in (("batch", titles.BATCH), ("online", titles.ONLINE)):
        part = kept["parts"][name]
        similar = part["similarity"]
        head = [f"{name}; random atoms: {part['random']}", *(names[key] for key in similar)]
        lines += table(head, [[names[one], *similar[one].values()] for one in similar])
    return [*lines, *origin_of_parts(kept)]


def decibels(cell):
    """PSNR and seconds, where they are known."""
    if "psnr_db" not in cell:
        return "-"
    return f"{cell['psnr_db']:.2f}" + (f" ({cell['seconds']:.1f} s)" if cell["seconds"] is not None else "")


def mean(values):
    """Of PSNRs, if all are known."""
    return "-" if None in values else f"{sum(values) / len(values):.2f}"


def inpainting():
    kept = load("inpainting")
    parts = kept["parts"]
    found = {key.split("/")[1] for key in parts}
    names = [name for name in titles.IMAGES if name in found] + sorted(found - set(titles.IMAGES))
    rows = []
    if found & set(titles.IMAGES):
        for title, values in titles.PAPER_INPAINTING.items():
            printed = dict(zip(titles.IMAGES, values, strict=True))
            cells = [f"{printed[n]:.2f}" if n in printed else "-" for n in names]
            rows.append([f"paper: {title}", *cells, mean([printed.get(n) for n in names])])
    for key, title in titles.INPAINTING.items():
        cells = [parts.get(f"{key}/{name}", {}) for name in names]
        if any("psnr_db" in cell for cell in cells):
            rows.append([title, *map(decibels, cells), mean([cell.get("psnr_db") for cell in cells])])
    return [*table(["PSNR dB", *names, "mean"], rows), *failures(parts, {}), *origin_of_parts(kept)]


def fusion():
    """PSNR in dB without the rim, in parentheses that of the whole image."""
    kept, rows = load("fusion"), []
    scored = {name: part["psnr_db"] for name, part in kept["parts"].items() if "psnr_db" in part}
    for name, scores in scored.items():
        cells = [f"{s['without_rim']:.2f}" + (f" ({s['whole']:.2f})" if "whole" in s else "") for s in scores.values()]
        printed = titles.PAPER_FUSION.get(name.split(",")[0], {})
        rows.append([name, *cells, printed.get("LoBCoD", "-"), printed.get("Liu 2016", "-")])
    ways = next(iter(scored.values()))
    head = ["pair", *ways, "paper: LoBCoD", "paper: Liu 2016"]
    return [*table(head, rows), *failures(kept["parts"], {}), *origin_of_parts(kept)]


def complexity():
    kept, rows = load("complexity"), []
    for name, part in kept["parts"].items():
        if "points" in part:
            ends = part["points"][0], part["points"][-1]
            span = " to ".join(f"{end[part['variable']]:.4g}" for end in ends)
            seconds = " to ".join(number(end["seconds"]) for end in ends)
            slopes = [part[key] for key in ("slope_seconds", "slope_seconds_last", "slope_memory", "bytes_each")]
            rows.append([name, span, seconds, *slopes, part["memory"].split("_")[0]])
    head = ["what, against", "from, to", "seconds", "slope of time", "of the last two points", "slope of memory"]
    head += ["bytes for one more", "memory"]
    return [*table(head, rows), *failures(kept["parts"], {}), *origin_of_parts(kept)]


def claims():
    kept = load("claims")
    parts = kept["parts"]
    objects = lambda name: [(key, part) for key, part in parts[name].items() if isinstance(part, dict)]
    lines = table(
        ["parallel", "1 thread, s", "2 threads, s", "ratio", "same bits"],
        [[name, *map(number, p["seconds"].values()), p["ratio"], p["same_bits"]] for name, p in objects("parallel")],
    )
    lines += table(
        ["Algorithm 2 on one image: epochs", "seconds", "objective"],
        [[p["epochs"], number(p.get("seconds")), f"{p['objective']:.5g}"] for p in parts["one_image"]["points"]],
    )
    stream = parts["changing_stream"]
    lines += table(
        [f"stream that changes after {stream['switch_after']} images: seen", "objective, first kind", "second kind"],
        [[p["seen"], f"{p['first kind']:.5g}", f"{p['second kind']:.5g}"] for p in stream["points"]],
    )
    lines += table(
        ["other units: factor", "objective / factor^2", "sweeps", "status"],
        [
            [number(p["scale"]), f"{p['objective_over_scale_squared']:.8g}", p["sweeps"], p["status"]]
            for p in parts["units"]["points"]
        ],
    )
    rho = parts["rho"]
    lines += table(
        ["solver", "seconds", "above the optimum"],
        [
            [f"SPORCO ADMM, rho {p['rho']:g}, 100 iterations", number(p["seconds"]), f"{p['above_optimum']:.2%}"]
            for p in rho["sporco"]
        ]
        + [["lobcod", number(rho["lobcod"]["seconds"]), f"{rho['lobcod']['above_optimum']:.4%}"]],
    )
    steps = parts["step_size"]
    lines += table(
        [f"Algorithm 2 from {steps['start']:.4g}, 15 epochs: step size", "objective"],
        [[p["step_size"], f"{p['objective']:.5g}"] for p in steps["points"]],
    )
    lines += table(
        ["caps", "codes left, right", "most of a needle left, right", "objective", "seconds"],
        [
            [
                name,
                f"{p['codes_left']}, {p['codes_right']}",
                f"{p['most_left']}, {p['most_right']}",
                f"{p['objective']:.5g}",
                number(p["seconds"]),
            ]
            for name, p in objects("adaptive")
        ],
    )
    return [*lines, *failures(parts, {}), *origin_of_parts(kept)]


def overhead():
    kept = load("overhead")
    rows = [
        [
            f"{row['side']}x{row['side']} {row['dtype']}",
            number(row["solver_seconds"]),
            number(1e3 * row["added_seconds"]),
            f"{row['share']:.1%}",
        ]
        for row in kept["rows"]
    ]
    return [*table(["image", "solver, s", "added, ms", "fraction"], rows), *origin_of(kept)]


def models():
    """Seconds to within 0.1 % of the best score, the last scores above it, and recovery of planted atoms."""
    kept, rows = load("models"), []
    for name, part in kept["parts"].items():
        solvers = part.get("solvers", {})
        others = {solver: one for solver, one in solvers.items() if solver != "lobcod"}
        if not others:
            continue
        # Of several settings of another program, the soonest, else the lowest.
        lowest = lambda one: min(point["score"] for point in one["points"])
        key = lambda item: (item[1]["seconds"] is None, item[1]["seconds"] or 0.0, lowest(item[1]))
        pair = {"lobcod": solvers["lobcod"], **dict([min(others.items(), key=key)])}
        above = [f"{lowest(one) / part['best'] - 1:.0e}" for one in pair.values()]
        ours, theirs = (one["seconds"] for one in pair.values())
        ratio = "-" if None in (ours, theirs) else number(theirs / ours)
        found = [number(one["points"][-1].get("recovery")) for one in pair.values()]
        cells = [" / ".join(cell) for cell in (map(reached, (ours, theirs)), above, found)]
        rows.append([name, list(pair)[1], cells[0], ratio, *cells[1:]])
    head = ["model", "other program", "CPU s, lobcod / other", "ratio", "best score above the best of all", "recovery"]
    return [*table(head, rows), *failures(kept["parts"], {}), *origin_of_parts(kept)]


def costs():
    """Minutes that every script took. Of a script that writes several tables, the last one counts."""
    rows, others = [], {}
    for path in sorted(RESULTS.glob("**/*.json")):
        kept = json.loads(path.read_text())
        if "parts" in kept:
            parts = kept["parts"].values()
            sizes = " and ".join(sorted({part["size"] for part in parts}))
            minutes = sum(part["took_seconds"] for part in parts) / 60
            rows.append([f"`{Path(kept['script']).name}`", sizes, f"{minutes:.1f}"])
        elif "cpu_minutes" in kept:
            words = re.sub(r" --save| --out \S+", "", kept["command"]).split()[1:]
            name = " ".join([Path(words[0]).name, *words[1:]])
            others[name] = max(others.get(name, 0.0), kept["cpu_minutes"])
    rows += [[f"`{name}`", "", f"{minutes:.1f}"] for name, minutes in sorted(others.items())]
    return table(["script", "size", "minutes"], rows)


def comparisons():
    """The comparisons of the README: what, the seconds of lobcod, and those of other programs."""
    pursuits = {row["solver"]: row["seconds"][1] for row in load("pursuit")["rows"] if row["workload"] == "fruit"}
    signal = load("one-dimension")
    lines = {row["solver"]: row["seconds"][1] for row in signal["rows"]}
    what = "code ten images of 100x100 to within 0.1 %"
    yield what, pursuits["lobcod-free"], {"LoBCoD with SPAMS": pursuits["spams"]}
    yield f"{what}, zero border", pursuits["lobcod-zero"], {"SPORCO": pursuits["sporco"]}
    samples = f"{signal['samples']:,}".replace(",", " ")
    others = {name: lines[name] for name in ("alphacsc", "dicodile")}
    yield f"code a signal of {samples} samples to within 0.1 %", lines["lobcod, f64"], others


def headline():
    rows = [
        [what, f"{ours:.3g} s", f"{other}: {theirs:.3g} s", f"{theirs / ours:.0f}"]
        for what, ours, others in comparisons()
        for other, theirs in others.items()
    ]
    kept = load("pursuit")
    machine = f"One thread; {kept['machine']}; version {kept['version']} ({kept['commit']}), {kept['date']}."
    return [*table(["task", "lobcod", "other program", "times faster"], rows), *wrapped(machine), ""]


TABLES = {
    function.__name__.replace("_", "-"): function
    for function in (
        pursuit, one_dimension, batch, online, dictionaries, inpainting, fusion, complexity, claims, overhead,
        models, headline, costs,
    )
}  # fmt: skip
