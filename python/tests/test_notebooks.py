"""The notebooks: they ship with outputs, and a new run produces the same kinds of output."""

import ast
import importlib.util
from pathlib import Path
from typing import Any

import nbformat
import pytest

FOLDER = Path(__file__).parent.parent / "notebooks"
FILES = sorted(FOLDER.glob("*.ipynb"))
LARGEST = 600_000


def code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def kinds(notebook: Any) -> list[set[str]]:
    """The kinds of output of each cell: printed text, and data types of others. Warnings of other packages do not count."""
    shown = [[output for output in cell.outputs if output.get("name") != "stderr"] for cell in code(notebook)]
    return [{kind for output in outputs for kind in output.get("data", {output.output_type})} for outputs in shown]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
@pytest.mark.filterwarnings("ignore")
def test_a_notebook_runs_and_has_its_outputs(file: Path) -> None:
    spec = importlib.util.spec_from_file_location("notebooks", FOLDER.parent / "notebooks.py")
    assert spec is not None and spec.loader is not None
    notebooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(notebooks)
    shipped = nbformat.read(file, as_version=4)
    run = notebooks.executed(file)
    assert kinds(shipped) == kinds(run), "run python python/notebooks.py"
    found: set[str] = set().union(*kinds(shipped))
    warned = [output for cell in code(shipped) for output in cell.outputs if output.get("name") == "stderr"]
    assert "image/png" in found and "error" not in found and not warned and file.stat().st_size < LARGEST


def test_there_is_a_notebook_for_every_task() -> None:
    tasks = {"encode", "learn", "inpaint", "fuse", "denoise", "separate", "scikit_learn", "large_arrays"}
    assert {file.stem for file in FILES} == tasks


def test_no_helper_is_copied_between_notebooks() -> None:
    for file in FILES:
        text = "\n".join(cell.source for cell in code(nbformat.read(file, as_version=4)))
        assert not any(isinstance(node, (ast.FunctionDef, ast.ClassDef)) for node in ast.walk(ast.parse(text))), file
