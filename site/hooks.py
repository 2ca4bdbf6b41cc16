"""What the documentation site adds to the pages of docs/: the command line's reference, the changelog and the formulas."""

import os
import re
import subprocess
from pathlib import Path

import latex2mathml.converter
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("LOBCOD_BINARY", ROOT / "target" / "debug" / "lobcod"))
CODE = re.compile(r"(```.*?```|`[^`\n]+`)", re.DOTALL)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def on_files(files, config):
    """Add the generated pages."""
    files.append(File.generated(config, "reference/cli.md", content=command_line()))
    files.append(File.generated(config, "changes.md", content=(ROOT / "CHANGELOG.md").read_text()))
    files.append(File.generated(config, "assets/site.css", content=(ROOT / "site" / "site.css").read_text()))
    return files


def on_page_markdown(markdown, page, config, files):
    """Typeset formulas and drop links to files that are not part of the site."""
    parts = CODE.split(markdown)
    for index in range(0, len(parts), 2):
        parts[index] = formulas(parts[index])
    folder = Path(page.file.src_uri).parent
    return LINK.sub(lambda link: inside(link, folder, files, page), "".join(parts))


def formulas(text):
    """Turn `$$...$$` and `$...$` into MathML, which browsers show without a script."""
    convert = latex2mathml.converter.convert
    text = re.sub(r"\$\$(.+?)\$\$", lambda m: convert(m[1].strip(), display="block"), text, flags=re.DOTALL)
    return re.sub(r"(?<![\\$\w])\$([^$\n]+?)\$(?![\w$])", lambda m: convert(m[1]), text)


def inside(link, folder, files, page):
    """The link, or only its text if it leads to a file of the repository outside docs/."""
    image, text, target = link.groups()
    path, _, anchor = target.partition("#")
    if "://" in target or not path:
        return link[0]
    place = os.path.normpath(folder / path)
    if page.file.src_uri == "changes.md":
        place = os.path.normpath(path)
    if place in ("../CHANGELOG.md", "CHANGELOG.md"):
        return f"[{text}]({os.path.relpath('changes.md', folder)})"
    if place.startswith("docs/"):
        inner = os.path.relpath(place[len("docs/") :], folder)
        return f"{image}[{text}]({inner}{'#' + anchor if anchor else ''})"
    return link[0] if files.get_file_from_path(place) else text


def command_line():
    """The reference of the command line, from the help of every command."""
    listing = run("--help")
    names = re.findall(r"^  ([a-z][a-z-]*)  ", listing.split("Commands:")[1].split("Options:")[0], re.MULTILINE)
    parts = ["# Command line", "This page is generated from the help of the program: `lobcod COMMAND --help` prints the same text.", ""]
    for name in (name for name in names if name != "help"):
        parts += [f"## lobcod {name}", "", *sections(run(name, "--help"))]
    return "\n".join(parts)


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
            lines += ["", f"`{words}`", ""]
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
