"""Hooks of mkdocs (mkdocs.yml). The pages are written to be read in the repository, too, so they link to files outside docs/.
In the site such a link leads to a page that shows the file, or all files of the folder."""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(?<=\]\()([^)#\s]+)(#[^)\s]*)?(?=\))")
COMMENT = re.compile(r"^<!-- (?:run|run by|not run|save|no statement)\b.*?-->\n", re.MULTILINE)
LANGUAGES = {".yaml": "yaml", ".yml": "yaml", ".json": "json", ".sh": "bash", ".py": "python", ".hpp": "cpp", ".cpp": "cpp"}
PAGES = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "README.md": "index.md"}


def outside(page, link):
    """Returns the path in the repository that a link of a page leads to, or None if it is in docs/."""
    if "://" in link or link.startswith("mailto:"):
        return None
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), link))
    return None if path.startswith("docs/") else path


def place_of(path):
    """Returns the page of the site that shows a file or folder of the repository."""
    return PAGES.get(path, f"source/{path}.md")


def shown(path):
    """Returns the text of that page."""
    if path in PAGES:
        return LINK.sub(lambda found: found[0].removeprefix("docs/") if found[0].startswith("docs/") else found[0],
                        (ROOT / path).read_text())
    root = ROOT / path
    files = [root] if root.is_file() else sorted(file for file in root.rglob("*") if file.is_file())
    parts = [f"---\nsearch:\n  exclude: true\n---\n# {path}\n"]
    for file in files:
        language = LANGUAGES.get(file.suffix, "text")
        heading = f"## {file.relative_to(root).as_posix()}\n\n" if root.is_dir() else ""
        parts.append(f"{heading}````{language}\n{file.read_text()}````\n")
    return "\n".join(parts)


def on_files(files, config):
    wanted = set(PAGES)
    for file in files.documentation_pages():
        text = Path(file.abs_src_path).read_text()
        wanted |= {path for link, _ in LINK.findall(text) if (path := outside(file.src_uri, link)) and (ROOT / path).exists()}
    for path in sorted(wanted - {"README.md"}):
        files.append(File.generated(config, place_of(path), content=shown(path)))
    return files


def on_page_markdown(markdown, page, config, files):
    def replaced(found):
        path = outside(page.file.src_uri, found[1])
        if not path:
            return found[0]
        return posixpath.relpath(place_of(path), posixpath.dirname(page.file.src_uri) or ".") + (found[2] or "")
    return LINK.sub(replaced, COMMENT.sub("", markdown))
