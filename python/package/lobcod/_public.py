"""Public functions: signatures, docstrings and argument checks from the table of parameters."""

from __future__ import annotations

import difflib
import functools
import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

from ._table import FUNCTIONS, REQUIRED, Parameter

_WIDTH = 100

R = TypeVar("R")


def public(name: str) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Create a public function from one that takes all parameters of the table as checked keywords, after ``self`` if any.

    The line ``{parameters}`` of the docstring is replaced by the parameter section.
    """
    signature = signature_of(name)
    kinds = {parameter.name: parameter.kind for parameter in FUNCTIONS[name].parameters}

    def decorate(work: Callable[..., R]) -> Callable[..., R]:
        method = "self" in inspect.signature(work).parameters

        @functools.wraps(work)
        def call(*args: Any, **given: Any) -> R:
            owner, args = (args[:1], args[1:]) if method else ((), args)
            try:
                bound = signature.bind(*args, **given)
            except TypeError as error:
                raise TypeError(f"{name}: {error}{_suggestion(given, kinds)}") from None
            bound.apply_defaults()
            return work(*owner, **{key: kinds[key].check(key, value) for key, value in bound.arguments.items()})

        owner = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)] if method else []
        call.__signature__ = signature.replace(parameters=[*owner, *signature.parameters.values()])  # type: ignore[attr-defined]
        if work.__doc__:
            call.__doc__ = documented(name, work.__doc__)
        return call

    return decorate


def signature_of(name: str) -> inspect.Signature:
    """Return the signature of a function, with the defaults of the Rust library."""
    function = FUNCTIONS[name]
    by_position = [(parameter, inspect.Parameter.POSITIONAL_OR_KEYWORD) for parameter in function.positional]
    by_name = [(parameter, inspect.Parameter.KEYWORD_ONLY) for parameter in function.keywords]
    return inspect.Signature([inspect.Parameter(p.name, kind, default=p.default_in(name)) for p, kind in by_position + by_name])


def _suggestion(given: dict[str, Any], known: dict[str, Any]) -> str:
    unknown = [name for name in given if name not in known]
    similar = difflib.get_close_matches(unknown[0], known, 1) if unknown else []
    return f"; did you mean {similar[0]}?" if similar else ""


def documented(name: str, docstring: str) -> str:
    """Return the docstring with the parameter section."""
    lines = ["Parameters", "----------"]
    for parameter in FUNCTIONS[name].parameters:
        optional = "" if parameter.default_in(name) is REQUIRED else ", optional"
        lines.append(f"{parameter.name} : {_documented_type(parameter)}{optional}")
        lines += textwrap.wrap(parameter.doc, _WIDTH, initial_indent="    ", subsequent_indent="    ")
    return inspect.cleandoc(docstring).replace("{parameters}", "\n".join(lines))


def _documented_type(parameter: Parameter) -> str:
    """Return the type of a parameter in numpydoc style."""
    text = re.sub(r"Literal\[([^]]*)\]", r"{\1}", parameter.kind.annotation)
    for type_, word in {"ArrayLike": "array", "SupportsArray": "array", "Watcher": "bool or callable", " | None": ""}.items():
        text = text.replace(type_, word)
    return text.replace("os.PathLike[str]", "path").replace(" | ", " or ")
