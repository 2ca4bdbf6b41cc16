"""Arguments: signatures, checks and their messages, all from one table."""

import inspect
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import lobcod
import numpy as np
import pytest
from lobcod import _kinds, _lobcod, _table

NAMES = list(_table.FUNCTIONS)

WRONG_TYPES: list[tuple[str, dict[str, Any], str]] = [
    ("encode", {"threads": "two"}, "threads is 'two', but must be a number of threads, 0 .* or -1"),
    ("encode", {"threads": 1.5}, "threads is 1.5, but must be a number of threads"),
    ("encode", {"penalty": [1]}, r"penalty is \[1\], but must be a number, or None"),
    ("encode", {"penalty": "high"}, "penalty is 'high', but must be a number"),
    ("encode", {"tolerance": None}, "tolerance is None, but must be a number"),
    ("encode", {"border": 3}, 'border is 3, but must be "free", "zero", "periodic" or "inside"'),
    ("encode", {"schedule": None}, 'schedule is None, but must be "tiles", "layers" or "needles"'),
    ("encode", {"nonnegative": 1}, "nonnegative is 1, but must be True or False"),
    ("encode", {"max_sweeps": 2.0}, "max_sweeps is 2.0, but must be a non-negative integer"),
    ("encode", {"time_limit": "1 s"}, "time_limit is '1 s', but must be a number, or None"),
    ("encode", {"max_memory": [1]}, r"max_memory is \[1\], but must be a number of bytes or an amount"),
    ("encode", {"checkpoint": 3}, "checkpoint is 3, but must be a path, or None"),
    ("encode", {"progress": "bar"}, "progress is 'bar', but must be True, False or a function"),
    ("encode", {"channel_axis": "last"}, "channel_axis is 'last', but must be the number of an axis, or None"),
    ("encode", {"thread": 1}, "encode: got an unexpected keyword argument 'thread'; did you mean threads?"),
    ("encode", {"penalty": np.ones((3, 3))}, r"penalty is an array of shape \(3, 3\), but must be a number"),
    ("encode", {"max_nonzeros": "few"}, "max_nonzeros is 'few', but must be a non-negative integer or an array"),
    ("encode", {"dictionary": 3}, 'dictionary is 3, but must be .*"dct" or an array of atoms'),
    ("learn", {"init": 3}, 'init is 3, but must be "random", "patches", "dct" or an array of atoms'),
    ("inpaint", {"penalty": [1]}, r"penalty is \[1\], but must be a number or \"auto\", or None"),
    ("inpaint", {"windows": 1}, "windows is 1, but must be a list of numbers"),
    ("denoise", {"noise": 25}, "noise is 25, but must be a text"),
    ("denoise", {"sigma": "25"}, "sigma is '25', but must be a number"),
    ("separate", {"alternations": "4"}, "alternations is '4', but must be a non-negative integer"),
    ("base_layer", {"size": "8x8"}, "size is '8x8', but must be an integer for each axis"),
]
WRONG_VALUES: list[tuple[str, dict[str, Any], str]] = [
    ("encode", {"threads": -2}, "threads is -2, but must be a number of threads, 0 .* or -1"),
    ("encode", {"max_sweeps": -1}, "max_sweeps is -1, but must be a non-negative integer"),
    ("encode", {"seed": -1}, "seed is -1, but must be a non-negative integer"),
    ("encode", {"max_memory": "lots"}, "max_memory is 'lots', but must be a number of bytes or an amount such as \"500M\""),
    ("encode", {"max_memory": -1}, "max_memory is -1, but must be"),
    ("encode", {"engine": "abacus"}, "the engine is abacus, but must be cpu, cuda or auto"),
    ("denoise", {"method": "magic"}, "the method is magic, but must be local or convolutional"),
]


@pytest.mark.parametrize(("name", "options", "sentence"), WRONG_TYPES)
def test_wrong_types_name_the_argument_the_value_and_what_is_accepted(
    name: str, options: dict[str, Any], sentence: str, grey: lobcod.Array
) -> None:
    with pytest.raises(TypeError, match=sentence):
        getattr(lobcod, name)(grey, **options)


@pytest.mark.parametrize(("name", "options", "sentence"), WRONG_VALUES)
def test_wrong_values_name_the_argument_the_value_and_what_is_accepted(
    name: str, options: dict[str, Any], sentence: str, grey: lobcod.Array
) -> None:
    with pytest.raises(ValueError, match=sentence):
        getattr(lobcod, name)(grey, **options)


def test_a_missing_argument_names_the_function() -> None:
    with pytest.raises(TypeError, match="learn: missing a required argument: 'images'"):
        lobcod.learn()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Stream: got an unexpected keyword argument 'pasess'"):
        lobcod.Stream(pasess=3)  # type: ignore[call-arg]


def test_wrong_images_name_the_argument(grey: lobcod.Array) -> None:
    for work in (lobcod.fuse, lobcod.learn):
        with pytest.raises(TypeError, match="images is 3, but must be a sequence of images"):
            work(3)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="size is 'a', but must be an integer for each axis"):
        lobcod.random_dictionary(3, "a")  # type: ignore[arg-type]
    for image in (grey[0], np.stack([np.stack([grey] * 2)] * 2)):
        with pytest.raises(ValueError, match="the image has . axes besides channels, but must have 2"):
            lobcod.denoise(image)


def test_numbers_of_numpy_are_numbers(grey: lobcod.Array) -> None:
    plain = lobcod.encode(grey, penalty=20, max_sweeps=50, threads=1)
    numpy = lobcod.encode(grey, penalty=np.float32(20), max_sweeps=np.int16(50), threads=np.uint8(1), nonnegative=np.bool_(False))  # type: ignore[call-overload]
    assert plain == numpy


@pytest.mark.parametrize(
    ("text", "amount"),
    [("1GB", 2**30), ("1.5 GiB", 3 * 2**29), ("500M", 500 * 2**20), ("2k", 2048), ("100", 100), (1e9, 10**9), ("1TB", 2**40)],
)
def test_amounts_of_memory(text: Any, amount: int, grey: lobcod.Array) -> None:
    assert _kinds.MEMORY.check("max_memory", text) == amount
    if amount > 10**8:
        assert len(lobcod.encode(grey, penalty=20, max_memory=text)) > 0
    else:
        with pytest.raises(MemoryError):
            lobcod.encode(grey, penalty=20, max_memory=text)


def test_defaults_are_those_of_the_rust_library() -> None:
    defaults = _lobcod.defaults()
    for name in NAMES:
        for parameter in inspect.signature(getattr(lobcod, name)).parameters.values():
            # The number of atoms may be given by their sizes.
            if parameter.name in defaults[name] and parameter.name != "atoms":
                assert parameter.default == defaults[name][parameter.name]
    assert inspect.signature(lobcod.encode).parameters["tolerance"].default == 1e-3
    assert inspect.signature(lobcod.fuse).parameters["align"].default == "auto"


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_is_documented(name: str) -> None:
    documentation = inspect.getdoc(getattr(lobcod, name)) or ""
    assert "{" not in re.sub(r"\{\"[^}]*\}", "", documentation), "a placeholder is left"
    for parameter in _table.FUNCTIONS[name].parameters:
        assert f"\n{parameter.name} : " in documentation and parameter.doc.split()[0] in documentation
    assert all(len(line) <= 130 for line in documentation.splitlines())


def test_the_stub_is_that_of_the_table() -> None:
    import importlib.util

    script = Path(__file__).parent.parent / "stubs.py"
    spec = importlib.util.spec_from_file_location("stubs", script)
    assert spec is not None and spec.loader is not None
    stubs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stubs)
    assert stubs.FILE.read_text() == stubs.stub(), "run python python/stubs.py"


ONLY_ON_THE_COMMAND_LINE = {
    *("output", "smooth_out", "texture_out", "decision_map", "depth_map", "axes", "known", "holes", "holes_colour", "stream"),
    *("reference", "peak", "report", "dry_run", "json", "quiet", "verbose", "help"),
    # The size of cosines, and the opposite of fit_atoms.
    *("size", "keep_atoms"),
}
DIFFERENT = {
    "precision": "files are read in single precision, arrays keep theirs",
    "scale": "white of an array follows from its type",
    "penalty": "None is auto in inpaint",
    "fill": "content is copied into photographs only, which files are and arrays need not be",
}


def options_of(command: str) -> dict[str, str]:
    """The options of a command and the default that its help names, if any."""
    program = os.environ["LOBCOD_PROGRAM"]
    text = subprocess.run([program, command, "--help"], capture_output=True, text=True, check=True).stdout
    parts = re.split(r"^ +(?:-\w, )?--([a-z-]+)(?: <.*)?$", text, flags=re.MULTILINE)
    defaults = {}
    for name, about in zip(parts[1::2], parts[2::2]):
        found = re.search(r"\[default:\s+([^],;]*)", about)
        defaults[name.replace("-", "_")] = found[1] if found else ""
    return defaults


@pytest.mark.skipif("LOBCOD_PROGRAM" not in os.environ, reason="LOBCOD_PROGRAM does not name the command line")
@pytest.mark.parametrize("name", [name for name in NAMES if name.islower() and name != "base_layer"])
def test_options_and_defaults_are_those_of_the_command_line(name: str) -> None:
    parameters = inspect.signature(getattr(lobcod, name)).parameters
    options = options_of(name)
    assert len(options) > 15 and set(options) - set(parameters) <= ONLY_ON_THE_COMMAND_LINE | set(DIFFERENT)
    compared = 0
    for option in set(options) & set(parameters) - set(DIFFERENT):
        theirs, ours = options[option], parameters[option].default
        if option == "relative_penalty":
            ours = _table.DEFAULTS["relative_penalty"]
        if theirs and ours is not None:
            value = float(theirs) if isinstance(ours, (int, float)) else theirs
            assert value == ours or theirs.startswith("depends"), option
            compared += 1
    assert compared >= 5
