"""Run the notebooks and store their outputs: `python notebooks.py [NAME...]`."""

import os
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

INLINE = "module://matplotlib_inline.backend_inline"
"""The backend of notebooks, whatever that of the caller is."""
FOLDER = Path(__file__).parent / "notebooks"


def executed(file: Path) -> Any:
    """Return a notebook with the outputs of a run, without the times of that run."""
    notebook = nbformat.read(file, as_version=4)
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", record_timing=False)
    client.execute(env={**os.environ, "MPLBACKEND": INLINE})
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
    return notebook


if __name__ == "__main__":
    names = sys.argv[1:] or [file.stem for file in sorted(FOLDER.glob("*.ipynb"))]
    for name in names:
        path = FOLDER / f"{name}.ipynb"
        nbformat.write(executed(path), path)
        print(f"{name}: {path.stat().st_size // 1024} kB")
