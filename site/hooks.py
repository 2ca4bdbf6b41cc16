"""What the documentation site adds to the pages of docs/: the command line's reference, the changelog and the
formulas."""

import ast
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import latex2mathml.converter
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("LOBCOD_BINARY", ROOT / "target" / "debug" / "lobcod"))
PACKAGE = ROOT / "target" / "site" / "package" / "lobcod"
REMOTE_WORKER = "https://unpkg.com/iframe-worker/shim"
CODE = re.compile(r"(```.*?```|`[^`\n]+`)", re.DOTALL)
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$\w])\$((?:[^$\n]|\n(?!\n))+?)\$(?![\w$])", re.DOTALL)
# Values of a parameter in a docstring; the first would be shown as the default.
CHOICES = re.compile(r"^( +\w+ : [^{\n]*)\{([^}\n]*)\}", re.MULTILINE)
STUDIO = ROOT / "crates" / "lobcod-web" / "page"
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def on_startup(command, dirty):
    """Lay out the Python package for its reference: signatures and docstrings are those of the stub."""
    shutil.rmtree(PACKAGE, ignore_errors=True)
    shutil.copytree(ROOT / "python" / "package" / "lobcod", PACKAGE)
    for path in PACKAGE.glob("*.py*"):
        text = re.sub(r":(?:func|class|meth):`", "`", path.read_text())
        path.write_text(CHOICES.sub(r"\1Literal[\2]", text))
    stub = PACKAGE / "__init__.pyi"
    (PACKAGE / "__init__.py").write_text(ast.unparse(without_overloads(ast.parse(stub.read_text()))))
    stub.unlink()


def without_overloads(tree):
    """Of every overloaded function, the definition with the docstring."""
    described = {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and ast.get_docstring(node)}
    kept = [
        node
        for node in tree.body
        if not isinstance(node, ast.FunctionDef) or ast.get_docstring(node) or node.name not in described
    ]
    for node in kept:
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = []
    return ast.Module(kept, [])


def on_files(files, config):
    """Add the generated pages."""
    files.append(File.generated(config, "reference/cli.md", content=command_line()))
    files.append(File.generated(config, "reference/json-fields.md", content=json_fields()))
    files.append(File.generated(config, "reference/python-api.md", content=python_api()))
    files.append(File.generated(config, "changes.md", content=(ROOT / "CHANGELOG.md").read_text()))
    for name in ("site.css", "worker.js"):
        files.append(File.generated(config, f"assets/{name}", content=(ROOT / "site" / name).read_text()))
    for figure in sorted((ROOT / "paper" / "results").glob("*.png")):
        files.append(File.generated(config, f"results/{figure.name}", abs_src_path=str(figure)))
    # `cargo xtask studio` builds the module; without it the page cannot work.
    if (STUDIO / "lobcod_web.wasm").exists():
        for path in sorted(path for path in STUDIO.rglob("*") if path.is_file() and path.suffix != ".md"):
            place = f"studio/{path.relative_to(STUDIO).as_posix()}"
            files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Set formulas aside, and drop links to files that are not part of the site."""
    parts = CODE.split(markdown)
    page.meta["formulas"] = []
    for index in range(0, len(parts), 2):
        parts[index] = FORMULA.sub(lambda found: set_aside(found, page), parts[index])
    folder = Path(page.file.src_uri).parent
    return LINK.sub(lambda link: inside(link, folder, files, page), "".join(parts))


def on_page_content(html, page, config, files):
    """Put the formulas back as MathML, which browsers show without a script."""
    return re.sub(r"@formula(\d+)@", lambda found: page.meta["formulas"][int(found[1])], html)


def on_post_page(output, page, config):
    """Load the worker of the search from the site instead of the network."""
    return output.replace(REMOTE_WORKER, os.path.relpath("assets/worker.js", Path(page.file.dest_uri).parent))


def on_post_build(config):
    """Drop the page for addresses that do not exist: its links need a server at the root of a domain."""
    (Path(config.site_dir) / "404.html").unlink()


def set_aside(found, page):
    """A word in place of a formula, so that Markdown leaves it alone."""
    display = "block" if found[1] else "inline"
    source = " ".join((found[1] or found[2]).split())
    if found[1]:
        source = re.sub(r"(\\min|\\operatorname\{argmin\})_\{([^}]*)\}", r"\\underset{\2}{\1}", source)
    formula = latex2mathml.converter.convert(source, display=display)
    formula = re.sub(r"<mo( stretchy=\"false\")?>(&#x0007C;|&#x02016;|&#x02225;)", r'<mo\1 lspace="0" rspace="0">\2', formula)
    page.meta["formulas"].append(formula)
    return f"@formula{len(page.meta['formulas']) - 1}@"


def inside(link, folder, files, page):
    """The link, or only its text if it leads to a file of the repository outside docs/."""
    image, text, target = link.groups()
    path, _, anchor = target.partition("#")
    if "://" in target or not path:
        return link[0]
    place = os.path.normpath(folder / path)
    if page.file.src_uri == "changes.md":
        place = os.path.normpath(path)
    if place == "../crates/lobcod-web/page/index.html":
        built = files.get_file_from_path("studio/index.html")
        return f"[{text}]({os.path.relpath('studio/index.html', folder)})" if built else text
    if place in ("../CHANGELOG.md", "CHANGELOG.md"):
        return f"[{text}]({os.path.relpath('changes.md', folder)})"
    if place.startswith("docs/"):
        inner = os.path.relpath(place[len("docs/") :], folder)
        return f"{image}[{text}]({inner}{'#' + anchor if anchor else ''})"
    if place.startswith("../paper/results/") and image:
        return f"![{text}]({os.path.relpath('results/' + Path(place).name, folder)})"
    return link[0] if files.get_file_from_path(place) else text


def command_line():
    """The reference of the command line, from the help of every command."""
    listing = run("--help")
    names = re.findall(r"^  ([a-z][a-z-]*)  ", listing.split("Commands:")[1].split("Options:")[0], re.MULTILINE)
    parts = [
        "# Command line",
        "This page is generated from the help of the program: `lobcod COMMAND --help` prints the same text.",
        "",
    ]
    for name in (name for name in names if name != "help"):
        parts += [f"## lobcod {name}", "", *sections(run(name, "--help"))]
    return "\n".join(parts)


def json_fields():
    """The fields of every report, from the JSON schema: first the commands, then the objects they contain."""
    definitions = json.loads((ROOT / "docs" / "report.schema.json").read_text())["$defs"]
    commands = [name for name in definitions if definitions[name]["description"].startswith("Report of")]
    parts = ["# JSON fields", "This page is generated from the JSON schema of the reports.", ""]
    for name in [*commands, *(name for name in definitions if name not in commands)]:
        kept = definitions[name]
        required = kept.get("required", [])
        parts += [f"## {name}", "", kept["description"], "", "| field | type | meaning |", "|---|---|---|"]
        for field, about in kept.get("properties", {}).items():
            optional = "" if field in required else " (optional)"
            meaning = about.get("description", "").replace("|", r"\|")
            parts.append(f"| `{field}` | {kind(about)}{optional} | {meaning} |")
        parts.append("")
    return "\n".join(parts)


def kind(about):
    """The type of a field in words, with links to the objects it contains."""
    if "$ref" in about:
        name = about["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in about:
        return " or ".join(kind(one) for one in about["anyOf"])
    if "enum" in about:
        return " or ".join(f"`{value}`" for value in about["enum"])
    names = about.get("type", "value")
    names = names if isinstance(names, list) else [names]
    inner = f" of {kind(about['items'])}" if isinstance(about.get("items"), dict) else ""
    return " or ".join(f"list{inner}" if name == "array" else name for name in names)


def python_api():
    """The reference of the Python package, from the docstrings of everything it exports."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    exported = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
    )
    functions = [name for name in exported if name.islower() and not name.startswith("_") and name != "plot"]
    classes = [name for name in exported if name[0].isupper() and name not in ("EMBEDDED", "Array")]
    parts = ["# Python API", "This page is generated from the docstrings of the package."]
    for title, names in (("Functions", functions), ("Classes", classes), ("Plots", ["plot"])):
        parts += [f"## {title}", *(f"::: lobcod.{name}" for name in names)]
    return "\n\n".join(parts)


def run(*words):
    return subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True).stdout


def sections(text):
    """The help of a command as Markdown: its description, usage, options as definitions, and examples."""
    lines, definitions = [], False
    for line in text.splitlines():
        indent, words = len(line) - len(line.lstrip()), line.strip()
        heading = re.fullmatch(r"([A-Z][A-Za-z ,-]+):", line)
        choice = re.fullmatch(r"- (\S+): +(.*)", words)
        if line.startswith("Usage:"):
            lines += ["```text", line.removeprefix("Usage: "), "```"]
            definitions = True
        elif heading:
            lines += ["", f"**{heading[1]}**", ""]
        elif definitions and 2 <= indent <= 6 and re.match(r"[-<\[]", words):
            name, _, rest = words.partition("  ")
            lines += ["", f"`{name}`", "", *([f":   {escape(rest.strip())}"] if rest else [])]
        elif choice:
            lines += ["", f"    - `{choice[1]}`: {escape(choice[2])}"]
        elif definitions and indent >= 10:
            follows = lines[-1] == "" and lines[-2].startswith("`")
            lines.append(f":   {escape(words)}" if follows else f"    {escape(words)}")
        elif indent:
            lines.append(f"    {words}")
        else:
            lines.append(escape(words))
    return [*lines, ""]


def escape(text):
    """Keep what Markdown and HTML would interpret."""
    return text.replace("<", "&lt;").replace("*", r"\*").replace("_", r"\_").replace("[", r"\[")
