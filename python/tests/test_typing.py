"""Types: checkers accept a user's script in their strict modes, and reject wrong calls."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Check = Callable[[Path, Path], set[int]]
FOLDER = Path(__file__).parent / "typing"


def mypy(file: Path, cache: Path) -> set[int]:
    """Lines of a file with mypy errors."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-color-output", "--config-file=", f"--cache-dir={cache}", file.name]
    printed = subprocess.run(command, capture_output=True, text=True, cwd=FOLDER, check=False)
    assert printed.returncode in (0, 1), printed.stderr
    print(printed.stdout)
    return {int(line.split(":")[1]) for line in printed.stdout.splitlines() if line.startswith(file.name) and ": error:" in line}


def pyright(file: Path, cache: Path) -> set[int]:
    """Lines of a file with pyright errors."""
    if shutil.which("pyright", path=str(Path(sys.executable).parent)) is None:
        pytest.skip("pyright is not installed")
    shutil.copy(file, cache)
    (cache / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict", "include": [file.name]}))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(cache)]
    printed = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    assert printed["summary"]["filesAnalyzed"] == 1
    found = [one for one in printed["generalDiagnostics"] if one["severity"] == "error"]
    print(*(f"{one['range']['start']['line'] + 1}: {one['message']}" for one in found), sep="\n")
    return {one["range"]["start"]["line"] + 1 for one in found}


@pytest.mark.parametrize("check", [mypy, pyright])
def test_a_users_script_is_accepted(check: Check, tmp_path: Path) -> None:
    assert check(FOLDER / "user.py", tmp_path) == set()


@pytest.mark.parametrize("check", [mypy, pyright])
def test_wrong_calls_are_rejected(check: Check, tmp_path: Path) -> None:
    lines = (FOLDER / "wrong_calls.py").read_text().splitlines()
    wrong = {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
    assert wrong <= check(FOLDER / "wrong_calls.py", tmp_path) and len(wrong) > 30
