"""Cases: Python in Markdown files, each with edges that it must and must not give."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_TERM = r"(`[^`]+`(?:@\d+)?|[^\s`]+)"
_EDGE = re.compile(rf"- (not )?{_TERM} ([A-Z_]+) {_TERM}")
_FENCE = re.compile(r"```(\w+) (\S+)")
_MARKS = ("pyproject.toml", "setup.py", "setup.cfg")


@dataclass(frozen=True, order=True)
class Edge:
    src: str
    kind: str
    dst: str

    def __str__(self) -> str:
        return f"{self.src} {self.kind} {self.dst}"


@dataclass
class Case:
    title: str
    files: dict[str, str] = field(default_factory=dict)
    must: list[Edge] = field(default_factory=list)
    must_not: list[Edge] = field(default_factory=list)
    is_static: bool = False
    """It is not to be run."""
    group: str = ""
    """The file that it is in, without ending."""

    def roots(self) -> list[str]:
        """The folders that module names start from, as far as cases use them: the top, projects and `src`."""
        above = {path[: found.start()] for path in self.files for found in re.finditer("/", path)}
        return ["", *(f for f in sorted(above) if f.endswith("src") or any(f"{f}/{m}" in self.files for m in _MARKS))]

    def modules(self) -> dict[str, str]:
        """From module to path, in the order of the files; a stub only where there is no module of its name."""
        found: dict[str, str] = {}
        for path in sorted((p for p in self.files if p.endswith((".py", ".pyi"))), key=lambda p: p.endswith("i")):
            root = max((r for r in self.roots() if path.startswith(f"{r}/" if r else "")), key=len)
            name = path.rpartition(".")[0].removeprefix(f"{root}/" if root else "").replace("/", ".")
            found.setdefault(name.removesuffix(".__init__"), path)
        return found


def read_cases(folder: Path) -> list[Case]:
    cases = [case for file in sorted(folder.glob("*.md")) for case in read_page(file)]
    titles = [case.title for case in cases]
    if twice := sorted({title for title in titles if titles.count(title) > 1}):
        raise ValueError(f"titles are not unique: {twice}")
    return cases


def read_page(file: Path, *, heading: str = "## ") -> Iterator[Case]:
    """The cases of one file; each begins with a heading of that level."""
    case = None
    path = ""
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if path and case:
            if line == "```":
                path = ""
            else:
                case.files[path] += line + "\n"
        elif line.startswith(heading):
            if case:
                yield case
            case = Case(line.removeprefix(heading).strip(), group=file.stem)
        elif case and (fence := _FENCE.fullmatch(line)):
            path = fence[2]
            case.files[path] = ""
        elif case and line == "- static":
            case.is_static = True
        elif case and (edge := _EDGE.fullmatch(line)):
            (case.must_not if edge[1] else case.must).append(Edge(edge[2], edge[3], edge[4]))
        elif line.startswith(("- ", "```")):
            raise ValueError(f"{file.name}:{number}: cannot be read: {line}")
    if case:
        yield case
