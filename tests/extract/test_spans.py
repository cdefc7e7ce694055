"""A span is a range of raw bytes, whatever the encoding. The oracle is CPython's own `ast.get_source_segment`."""

from __future__ import annotations

import codecs
import json
import random
import sysconfig
from collections import Counter
from pathlib import Path

import pytest

from codelake.extract.content import evidence_of
from tests.extract.oracles import comments, spans
from tests.extract.packages import sources_of
from tests.extract.reading import Seen

TRICKY = (
    "# Grüße 😀\r\n"
    "x = 'ä😀' + f\"{a!r:>{width}} {f'{b + c}'} ü\"; y = \\\r\n  z\n"
    "\x0cdef f(ä, ö=1):\r\n"
    "\treturn '''one\u2028two\x85three\r\n  four''' + \"😀\" 'b'\r"
    "class Ñ(f(x), metaclass=M): pass\n"
    "w = ('a'  # é\n     'b')\n"
)


def test_tricky_text_as_utf_8() -> None:
    assert list(spans.differences(TRICKY.encode())) == []
    assert spans.n_nodes(TRICKY.encode()) == 40
    assert comments.found(TRICKY.encode()) == ["# Grüße 😀", "# é"]


def test_tricky_text_with_a_byte_order_mark() -> None:
    raw = codecs.BOM_UTF8 + TRICKY.encode()
    assert list(spans.differences(raw)) == []
    seen = Seen(raw)
    assert seen.evidence.encoding == "utf-8-sig"
    assert seen.rows("nodes")[0]["start_byte"] == 3


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("latin-1", "Grüße à é"),
        ("cp1252", "“Grüße” €"),
        ("iso8859-15", "€ ž"),
        ("cp1251", "привет"),
        ("koi8-r", "привет"),
        ("shift_jis", "日本語 ソ表"),
        ("euc_jp", "日本語"),
        ("gbk", "中文 編碼"),
        ("gb18030", "中文 😀"),
        ("big5", "中文 功許"),
        ("euc_kr", "한국어"),
        ("iso2022_jp", "日本語 # 表"),
        ("utf-7", "Grüße"),
    ],
)
def test_other_encodings(encoding: str, words: str) -> None:
    source = f"# -*- coding: {encoding} -*-\nx = f('{words}', {{a}}) # {words}\ndef g(): return '{words}'\n"
    raw = source.encode(encoding)
    assert list(spans.differences(raw)) == []
    assert comments.found(raw)[1] == f"# {words}"


def test_a_file_of_the_standard_library_line_by_line_in_every_newline() -> None:
    source = Path(json.__file__).with_name("decoder.py").read_text()
    for newline in ("\n", "\r\n", "\r"):
        raw = source.replace("\n", newline).encode()
        assert list(spans.differences(raw)) == []


def _differences(files: list[Path]) -> Counter[str]:
    found: Counter[str] = Counter()
    for file in files:
        raw = file.read_bytes()
        if evidence_of(raw).status != "parsed":
            found["not parsed"] += 1
            continue
        found["files"] += 1
        for kind, *_ in spans.differences(raw):
            found[f"different: {kind}"] += 1
        found["comments that differ"] += comments.found(raw) != comments.expected(raw)
    return found


def test_spans_and_comments_of_a_sample_of_the_standard_library() -> None:
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py"))
    sample = random.Random(4).sample([f for f in files if "site-packages" not in f.parts], 40)
    found = _differences(sample)
    assert found["files"] > 35
    assert [kind for kind in found if kind.startswith("different")] == []
    assert found["comments that differ"] == 0


@pytest.mark.soak
@pytest.mark.parametrize("package", ["stdlib", "Django", "pandas", "sympy", "SQLAlchemy", "numpy", "mypy"])
def test_spans_and_comments_of_whole_packages(package: str, tmp_path: Path) -> None:
    found = _differences(sources_of(package, tmp_path))
    print(package, dict(found))
    assert [kind for kind in found if kind.startswith("different")] == []
    assert found["comments that differ"] == 0
