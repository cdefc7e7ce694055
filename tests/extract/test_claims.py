"""Reports of other tools: what is read of them, where that is in the bytes, and when it is not believed."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from codelake.contracts.arrow_vectors import fields_of
from codelake.contracts.claims import CLAIM_FIELDS
from codelake.errors import UsageError
from codelake.extract.claims import Claimed, Report, claimed, open_pyrefly, open_scip
from codelake.extract.claims.symbols import parsed
from tests.extract.scip_index import UTF_8, UTF_16, UTF_32, Index, symbol

CART = "import os\n\n\nclass Cart:\n    def add(self, thing):\n        return os.getcwd()\n"
USE = 'from cart import Cart\n\n\ndef use(é):\n    x = "😀ß"; Cart().add(é)\n'
FILES = {"src/cart.py": CART, "use.py": USE}


def shop(**options: object) -> Index:
    index = Index(FILES, **options)  # type: ignore[arg-type]
    index.define("src/cart.py", "Cart", "`src.cart`/Cart#").define("src/cart.py", "add", "`src.cart`/Cart#add().")
    index.define("use.py", "use", "use/use().")
    index.refer("src/cart.py", "getcwd", "os/getcwd().", package="python-stdlib 3.11")
    return index.refer("use.py", "Cart", "`src.cart`/Cart#", 1).refer("use.py", "add", "`src.cart`/Cart#add().")


def opened(index: Index, tmp_path: Path) -> Report:
    return open_scip(index.write(tmp_path / "index.scip"))


def said(found: Claimed, content: bytes) -> list[tuple[str, str, str]]:
    """The bytes that a claim is about, as text, its kind and its target."""
    rows = fields_of(pa.array([found.claims], pa.binary()), CLAIM_FIELDS)
    columns = (column.to_pylist() for column in rows.values())
    return [(content[s:e].decode(), kind, target) for s, e, kind, target in zip(*columns, strict=True)]


@pytest.mark.parametrize("encoding", [0, UTF_8, UTF_16, UTF_32])
def test_places_are_bytes_whatever_the_index_counts_in(encoding: int, tmp_path: Path) -> None:
    report = opened(shop(encoding=encoding), tmp_path)
    assert (report.origin, report.tool, sorted(report.paths)) == ("scip", "scip-python 0.6.6", sorted(FILES))
    found = claimed(report, "r", "use.py", USE.encode(), "d1")
    assert said(found, USE.encode()) == [
        ("Cart", "name", "r:src/cart.py#Cart"),
        ("add", "name", "r:src/cart.py#Cart.add"),
    ]
    assert (found.digest, found.problem, found.n_claims) == ("d1", None, 2)


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf" + USE.encode(), USE.replace("\n", "\r\n").encode()])
def test_marks_and_line_ends_move_the_bytes(content: bytes, tmp_path: Path) -> None:
    found = claimed(opened(shop(), tmp_path), "r", "use.py", content, "d1")
    assert [text for text, _, _ in said(found, content)] == ["Cart", "add"]


def test_another_encoding_of_the_file(tmp_path: Path) -> None:
    text = "# coding: latin-1\né = 1\ndef f(): pass\nx = 'é'; f()\n"
    index = Index({"m.py": text}).define("m.py", "f", "m/f().", 0).refer("m.py", "f", "m/f().", 1)
    content = text.encode("latin-1")
    found = claimed(opened(index, tmp_path), "r", "m.py", content, "d1")
    assert [(t, target) for t, _, target in said(found, content)] == [("f", "r:m.py#f")]


def test_what_another_package_has_is_external(tmp_path: Path) -> None:
    found = claimed(opened(shop(), tmp_path), "r", "src/cart.py", CART.encode(), "d1")
    assert said(found, CART.encode()) == [("getcwd", "name", "::os.getcwd")]


def test_a_name_that_is_not_the_symbols_is_no_claim(tmp_path: Path) -> None:
    index = shop().refer("src/cart.py", "os", "posixpath/join().", 1, package="python-stdlib 3.11")
    found = claimed(opened(index, tmp_path), "r", "src/cart.py", CART.encode(), "d1")
    assert said(found, CART.encode()) == [("getcwd", "name", "::os.getcwd")]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("\n" + CART, "it names line 4, character 7, which is not there"),
        (CART.replace("add", "put"), "it says that line 5 defines 'add', where 'put' stands"),
        ("class Cart: pass\n", "it names line 4, character 7, which is not there"),
    ],
)
def test_an_index_of_another_content_says_nothing(content: str, problem: str, tmp_path: Path) -> None:
    found = claimed(opened(shop(), tmp_path), "r", "src/cart.py", content.encode(), "d2")
    assert (found.digest, found.problem, found.n_claims, found.claims_digest) == (None, problem, 0, "")


def test_an_index_that_has_the_texts_is_compared_with_them(tmp_path: Path) -> None:
    report = opened(shop(has_texts=True), tmp_path)
    assert claimed(report, "r", "use.py", USE.encode(), "d1").n_claims == 2
    assert claimed(report, "r", "use.py", (USE + "\n").encode(), "d2").problem == "its text is another"


@pytest.mark.parametrize(
    ("text", "label", "dotted"),
    [
        (symbol("`shop.cart`/Cart#add()."), "#Cart.add", "shop.cart.Cart.add"),
        (symbol("`shop.cart`/make().inner(+1)."), "#make.inner", "shop.cart.make.inner"),
        (symbol("cart/Cart#total."), "#Cart:total", "cart.Cart.total"),
        (symbol("cart/Cart#__total."), "#Cart:_Cart__total", "cart.Cart.__total"),
        (symbol("cart/LIMIT."), "#:LIMIT", "cart.LIMIT"),
        (symbol("`shop.cart`/__init__:"), "#<module>", "shop.cart"),
        (symbol("cart/`weird``name`()."), "#weird`name", "cart.weird`name"),
        (symbol("cart/f().", "a  name with  spaces . 1"), None, None),
        (symbol("cart/f().(parameter)"), None, None),
        ("local 12", None, None),
        ("nonsense", None, None),
    ],
)
def test_symbols(text: str, label: str | None, dotted: str | None) -> None:
    found = parsed(text)
    assert (found and found.label, found and found.dotted) == (label, dotted)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", "no document in it"),
        (b"not an index", "wire type"),
        (shop().data()[:-3], "are left"),
        (b"\x12\xff", "ends within a number"),
    ],
)
def test_what_is_no_index_is_refused(data: bytes, found: str, tmp_path: Path) -> None:
    path = tmp_path / "index.scip"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=found):
        open_scip(str(path))


def test_an_index_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.scip; expected a SCIP index.*No such file"):
        open_scip(str(tmp_path / "none.scip"))


# pyrefly -----------------------------------------------------------------------------------------


def pyrefly_report(folder: Path, root: Path, *, version: int = 1) -> str:
    """Two files of a repository and one module of typeshed, as pyrefly 1.4 writes them."""
    modules = {
        1: ("cart", {"FileSystem": str(root / "src/cart.py")}),
        2: ("use", {"FileSystem": str(root / "use.py")}),
        3: ("posix", {"BundledTypeshed": "posix.pyi"}),
    }
    definitions = {
        1: (
            {"F:0": ("add", "5:9-5:12", {"Class": {"class_id": 0}}), "F:1": ("__init__", None, "TopLevel")},
            {"0": ("Cart", "4:7-4:11", "TopLevel")},
        ),
        2: ({"F:0": ("use", "4:5-4:8", "TopLevel")}, {}),
        3: ({"F:9": ("getcwd", "1:5-1:11", "TopLevel")}, {}),
    }
    of_cart = {"module_id": 1, "module_name": "cart", "class_id": 0, "class_name": "Cart"}
    init = {"target": {"Function": {"module_id": 1, "function_id": "F:1"}}, "receiver_class": of_cart}
    calls = {
        1: {"F:0": {"6:16-6:27": [{"target": {"Function": {"module_id": 3, "function_id": "F:9"}}}]}},
        2: {"F:0": {"5:19-5:33": [{"target": {"Overrides": {"module_id": 1, "function_id": "F:0"}}}]}},
    }
    folder.mkdir()
    about = {
        str(n): {"module_id": n, "module_name": name, "info_filename": f"{name}:{n}.json", "source_path": path}
        for n, (name, path) in modules.items()
    }
    (folder / "pyrefly.pysa.json").write_text(json.dumps({"format_version": version, "modules": about}))
    for name in ("definitions", "call_graphs"):
        (folder / name).mkdir()
    for n, (functions, classes) in definitions.items():
        made = [
            {i: {"name": a, "name_location": b, "parent": c} for i, (a, b, c) in every.items()}
            for every in (functions, classes)
        ]
        found = {"function_definitions": made[0], "class_definitions": made[1]}
        (folder / "definitions" / about[str(n)]["info_filename"]).write_text(json.dumps(found))
    for n, graphs in calls.items():
        every: dict[str, dict[str, object]] = {
            f: {place: {"Call": {"call_targets": targets}} for place, targets in one.items()}
            for f, one in graphs.items()
        }
        if n == 2:
            every["F:0"]["5:19-5:25"] = {"Call": {"init_targets": [init]}}
            every["F:0"]["5:19-5:25|artificial-call|binary"] = {"Call": {"init_targets": [init]}}
            every["F:0"]["5:10-5:11"] = {"Identifier": {"if_called": {}}}
        (folder / "call_graphs" / about[str(n)]["info_filename"]).write_text(json.dumps({"call_graphs": every}))
    return str(folder)


def test_calls_of_pyrefly(tmp_path: Path) -> None:
    report = open_pyrefly(pyrefly_report(tmp_path / "report", tmp_path / "shop"), tmp_path / "shop")
    assert (report.origin, sorted(report.paths)) == ("pyrefly", sorted(FILES))
    found = claimed(report, "r", "use.py", USE.encode(), "d1")
    assert said(found, USE.encode()) == [
        ("Cart()", "call", "r:src/cart.py#Cart"),
        ("Cart().add(é)", "call", "r:src/cart.py#Cart.add"),
    ]
    found = claimed(report, "r", "src/cart.py", CART.encode(), "d1")
    assert said(found, CART.encode()) == [("os.getcwd()", "call", "::posix.getcwd")]
    stale = claimed(report, "r", "use.py", b"\n" + USE.encode(), "d2")
    assert (stale.digest, stale.problem) == (None, "it names line 4, character 5, which is not there")


def test_what_is_no_report_of_pyrefly_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"pyrefly\.pysa\.json; found No such file.*--report-pysa-format json"):
        open_pyrefly(str(tmp_path), tmp_path)
    with pytest.raises(UsageError, match="expected a report of version 1; found version 2"):
        open_pyrefly(pyrefly_report(tmp_path / "newer", tmp_path, version=2), tmp_path)
    with pytest.raises(UsageError, match=r"expected files below .*elsewhere; found none"):
        open_pyrefly(pyrefly_report(tmp_path / "report", tmp_path / "shop"), tmp_path / "elsewhere")
    report = open_pyrefly(str(tmp_path / "report"), tmp_path / "shop")
    (tmp_path / "report" / "definitions" / "cart:1.json").write_text("{}")
    with pytest.raises(UsageError, match=r"expected definitions of all that it names; found none of '0', for use\.py"):
        claimed(report, "r", "use.py", USE.encode(), "d1")
    (tmp_path / "report" / "pyrefly.pysa.json").write_text("{}")
    with pytest.raises(UsageError, match="missing required field"):
        open_pyrefly(str(tmp_path / "report"), tmp_path / "shop")
