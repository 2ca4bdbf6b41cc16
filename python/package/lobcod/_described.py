"""Attribute descriptions, given in annotations and shown in docstrings."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any, TypeVar, get_type_hints

C = TypeVar("C", bound=type[Any])


def described(cls: C) -> C:
    """List the attributes of a class, including inherited ones, in its docstring: at ``{attributes}``, or at its end.

    The description of an attribute is the text in its annotation ``Annotated[TYPE, "..."]``.
    """
    lines = ["Attributes", "----------"]
    for name, hint in get_type_hints(cls, include_extras=True).items():
        if not name.startswith("_"):
            lines += [name, *textwrap.wrap(hint.__metadata__[0], 96, initial_indent="    ", subsequent_indent="    ")]
    text = inspect.cleandoc(cls.__doc__ or "")
    text = text if "{attributes}" in text else text + "\n\n{attributes}\n"
    signature = inspect.signature(cls)
    # Descriptions belong to the list of attributes, not to the signature.
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    cls.__signature__ = signature.replace(parameters=bare)
    cls.__doc__ = text.replace("{attributes}", "\n".join(lines))
    return cls
