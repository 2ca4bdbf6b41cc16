"""The notebooks: committed without outputs, and run at a small size."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "notebooks"


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.ipynb")), ids=lambda file: file.stem)
@pytest.mark.filterwarnings("ignore")
def test_a_notebook_runs(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = nbformat.read(file, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code and all(not cell.outputs and cell.execution_count is None for cell in code)
    monkeypatch.setenv("LOBCOD_NOTEBOOK_SIZE", "64")
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()


def test_there_is_a_notebook_for_every_task() -> None:
    assert {file.stem for file in FOLDER.glob("*.ipynb")} == {"encode", "learn", "inpaint", "fuse", "denoise"}
