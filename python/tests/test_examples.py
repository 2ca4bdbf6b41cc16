"""The examples: each runs, and prints the same as its Rust counterpart."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "examples"
TWINS = Path(__file__).parent.parent.parent / "crates/lobcod-tasks/examples"
NAMES = sorted(file.stem for file in FOLDER.glob("*.py"))


def test_every_example_has_its_twin() -> None:
    assert NAMES == sorted(file.stem for file in TWINS.glob("*.rs"))


@pytest.mark.parametrize("name", NAMES)
def test_an_example_prints_what_its_twin_prints(name: str) -> None:
    printed = subprocess.run([sys.executable, FOLDER / f"{name}.py"], check=True, capture_output=True, text=True).stdout
    assert len(printed.splitlines()) >= 2
    if "LOBCOD_EXAMPLES" in os.environ:
        twin = subprocess.run([Path(os.environ["LOBCOD_EXAMPLES"]) / name], check=True, capture_output=True, text=True).stdout
        assert printed == twin


def test_the_documentation_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(__file__).parents[2] / "docs/reference/python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= 2
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        exec(compile(block, "docs/reference/python.md", "exec"), {})
