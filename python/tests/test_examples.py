"""The examples: each runs, and prints the same as its Rust counterpart."""

import os
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
