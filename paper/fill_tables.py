"""Write the generated tables and the chart of the documentation from the files in paper/results.

    python paper/fill_tables.py            # write them
    python paper/fill_tables.py --check    # fail if a page differs from the results
    python paper/fill_tables.py --stale    # list results that are older than the code they measure

A page contains a table between `<!-- results: NAME -->` and `<!-- end -->`, where NAME is a function of
lib/tables.py or a file in results/tables. Needs only the standard library.
"""

import argparse
import json
import math
import re
import subprocess
import sys
from pathlib import Path

from lib import tables

ROOT = Path(__file__).resolve().parent.parent
CHART = ROOT / "docs" / "figures" / "speed.svg"
MARKED = re.compile(r"(<!-- results: (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
# The code that results measure.
MEASURED = ("crates", "python/src")


def pages():
    return [ROOT / "README.md", ROOT / "paper" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def filled(text):
    """A page with its tables as the results are now."""

    def body(found):
        name = found[2]
        lines = tables.TABLES[name]() if name in tables.TABLES else tables.stored(name)
        return found[1] + "\n".join(["", *lines]) + found[4]

    return MARKED.sub(body, text)


def generated():
    """Every generated file: its path and its contents."""
    for page in pages():
        text = page.read_text()
        if MARKED.search(text):
            yield page, filled(text)
    yield CHART, chart()


def chart():
    """A bar chart of the comparisons of the README, on a logarithmic axis."""
    bars = []
    for what, ours, others in tables.comparisons():
        bars.append((what, None))
        bars += [("lobcod", ours), *others.items()]
    longest = max(seconds for _, seconds in bars if seconds)
    shortest = min(seconds for _, seconds in bars if seconds)
    decades = range(math.floor(math.log10(shortest)), math.ceil(math.log10(longest)) + 1)
    left, width, row = 160, 460, 22
    place = lambda seconds: left + width * (math.log10(seconds) - decades[0]) / (decades[-1] - decades[0])
    height = row * len(bars) + 44
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 {height}" font-family="sans-serif" font-size="13">',
        "<style>text{fill:#333}.grid{stroke:#ccc}.ours{fill:#00897b}.theirs{fill:#90a4ae}",
        "@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#555}}</style>",
    ]
    for decade in decades:
        x = place(10**decade)
        lines.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="6" y2="{height - 36}"/>')
        lines.append(f'<text x="{x:.1f}" y="{height - 20}" text-anchor="middle">{10**decade:g}</text>')
    lines.append(f'<text x="{left + width / 2:.0f}" y="{height - 4}" text-anchor="middle">seconds, one thread</text>')
    for index, (name, seconds) in enumerate(bars):
        y = 8 + row * index
        if seconds is None:
            lines.append(f'<text x="4" y="{y + 15}" font-weight="bold">{name}</text>')
            continue
        kind = "ours" if name == "lobcod" else "theirs"
        end = place(seconds)
        lines.append(f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{name}</text>')
        lines.append(f'<rect class="{kind}" x="{left}" y="{y + 3}" width="{end - left:.1f}" height="{row - 8}"/>')
        lines.append(f'<text x="{end + 6:.1f}" y="{y + 14}">{seconds:.3g} s</text>')
    return "\n".join([*lines, "</svg>", ""])


def stale():
    """Lines about results whose code has changed since they were measured."""
    for path in sorted(tables.RESULTS.rglob("*.json")):
        kept = json.loads(path.read_text())
        commit = kept.get("commit") or kept["machine"]["commit"]
        counted = subprocess.run(
            ["git", "rev-list", "--count", f"{commit}..HEAD", "--", *MEASURED], cwd=ROOT, capture_output=True, text=True
        )
        name = path.relative_to(ROOT)
        if counted.returncode:
            yield f"{name}: measured at {commit}, which this repository does not have"
        elif int(counted.stdout):
            count = int(counted.stdout)
            yield f"{name}: measured at {commit}, {count} commit{'s' * (count > 1)} of code ago"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if something would change")
    parser.add_argument("--stale", action="store_true", help="list results older than the code they measure")
    options = parser.parse_args()
    if options.stale:
        print("\n".join(stale()) or "every result is as new as the code")
        return None
    differing = [(path, text) for path, text in generated() if not path.exists() or path.read_text() != text]
    if options.check:
        names = [
            f"{path.relative_to(ROOT)} differs from paper/results; run: python paper/fill_tables.py"
            for path, _ in differing
        ]
        return "\n".join(names) or None
    for path, text in differing:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        print(f"wrote {path.relative_to(ROOT)}")
    return None


if __name__ == "__main__":
    sys.exit(main())
