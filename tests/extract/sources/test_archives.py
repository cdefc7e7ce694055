from __future__ import annotations

import gzip
import hashlib
import io
import random
import stat
import struct
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from codelake.errors import CodelakeError, Refused, Unavailable
from codelake.extract.sources import Reason, archive, open_source
from tests.extract.sources.conftest import rows, write

Member = tuple[str, bytes | str, bytes]  # name, content or target, type
FILE, LINK, HARD, FOLDER = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE


def tar(path: Path, members: Iterable[Member], *, format: int = tarfile.PAX_FORMAT) -> Path:
    with tarfile.open(path, "w:gz", format=format, errors="surrogateescape") as file:
        for name, content, kind in members:
            member = tarfile.TarInfo(name)
            member.type = kind
            if kind in (LINK, HARD):
                member.linkname = str(content)
                file.addfile(member)
            else:
                data = content if isinstance(content, bytes) else content.encode()
                member.size = len(data)
                file.addfile(member, io.BytesIO(data))
    return path


def zipped(path: Path, members: Iterable[Member], *, method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content, kind in members:
            member = zipfile.ZipInfo(name)
            member.compress_type = method
            member.create_system = 3
            member.external_attr = ((stat.S_IFLNK if kind == LINK else stat.S_IFREG) | 0o644) << 16
            file.writestr(member, content)
    return path


def both(folder: Path, members: list[Member]) -> list[Path]:
    return [tar(folder / "x.tar.gz", members), zipped(folder / "x.zip", members)]


def found_in(path: Path) -> list[str]:
    return list(rows(open_source(path)))


def test_what_is_known_of_an_archive(tmp_path: Path) -> None:
    for path in both(tmp_path, [("a.py", "1", FILE), ("README", "", FILE)]):
        source = open_source(path)
        assert source.revision == hashlib.sha256(path.read_bytes()).hexdigest()
        assert (source.kind, source.committed_at, source.is_dirty) == ("archive", None, False)
        assert rows(source) == rows(source)


def test_one_folder_on_top(tmp_path: Path) -> None:
    cases: list[tuple[list[str], list[str]]] = [
        (["p-1.0/PKG-INFO", "p-1.0/p/__init__.py", "p-1.0/setup.py"], ["p/__init__.py", "setup.py"]),
        (["x/p/a.py"], ["p/a.py"]),  # called like the archive
        (["google/cloud/a.py"], ["google/cloud/a.py"]),  # nothing but folders in it
        (["pkg/__init__.py", "pkg/a.py"], ["pkg/__init__.py", "pkg/a.py"]),
        (["p-1.0/__init__.py", "p-1.0/a.py"], ["__init__.py", "a.py"]),  # a name that no package can have
        (["a/b.py", "c.py"], ["a/b.py", "c.py"]),
        (["a/b.py", "c/d.py"], ["a/b.py", "c/d.py"]),
        (["a.py"], ["a.py"]),
        (["./repo/a.py", "./repo/b/c.py"], ["a.py", "b/c.py"]),
    ]
    for members, paths in cases:
        for path in both(tmp_path, [(name, "", FILE) for name in members]):
            assert found_in(path) == paths, members


def test_wheels(tmp_path: Path) -> None:
    members = ["google/cloud/x/__init__.py", "google/cloud/x/mod.py", "tool.py"]
    for name in ("a-1.0-py3-none-any.whl", "a.whl"):
        path = zipped(tmp_path / name, [(member, "", FILE) for member in [*members, "a-1.0.dist-info/RECORD"]])
        assert open_source(path).repo == "a"
        assert [file.module for file in rows(open_source(path)).values()] == [
            "google.cloud.x",
            "google.cloud.x.mod",
            "tool",
        ]
    path = zipped(tmp_path / "b-1.0-py3-none-any.whl", [("b/x.py", "", FILE)])
    assert found_in(path) == ["b/x.py"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("/etc/a.py", "an absolute name"),
        ("../a.py", "goes up"),
        ("a/../../b.py", "goes up"),
        ("a/..", "goes up"),
        ("C:/a.py", "a drive"),
        ("c:a.py", "a drive"),
        ("\\\\host\\a.py", "an absolute name"),
        ("a\\..\\..\\b.py", "goes up"),
    ],
)
def test_names_that_leave_the_folder(name: str, found: str, tmp_path: Path) -> None:
    for path in both(tmp_path, [("ok.py", "1", FILE), (name, "1", FILE)]):
        with pytest.raises(Refused, match=found):
            next(open_source(path).files())


def test_names_that_only_look_bad(tmp_path: Path) -> None:
    names = ["...py", "..a/b.py", "a..b.py", "a\n.py", "a'\".py", " .py", "x\\y.py", "~/z.py", "é/ü.py"]
    for path in both(tmp_path, [(name, "1", FILE) for name in names]):
        assert found_in(path) == sorted(names)


def test_a_nul_in_a_name(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", [("a.pyX../../b.py", "1", FILE)])
    path.write_bytes(path.read_bytes().replace(b"a.pyX..", b"a.py\0.."))
    with pytest.raises(Refused, match="a NUL"):
        list(open_source(path).files())


@pytest.mark.parametrize("target", ["/etc/passwd", "../x.py", "a/../../x.py", "../../../../etc/passwd"])
def test_links_that_leave_the_folder(target: str, tmp_path: Path) -> None:
    for path in both(tmp_path, [("a.py", "1", FILE), ("link", target, LINK)]):
        with pytest.raises(Refused, match="which leaves the archive"):
            list(open_source(path).files())
    with pytest.raises(Refused):
        list(open_source(tar(tmp_path / "h.tgz", [("a.py", "1", FILE), ("h.py", target, HARD)])).files())


def test_links_within(tmp_path: Path) -> None:
    members = [("p-1/a.py", "1", FILE), ("p-1/link.py", "a.py", LINK), ("p-1/up.py", "../x.py", LINK)]
    for path in both(tmp_path, members):
        found = rows(open_source(path))
        assert found["link.py"].problem == "a symbolic link to a.py"
        assert found["up.py"].problem == "a symbolic link to ../x.py, out of the source"
        assert found["up.py"].n_bytes == 7


def test_hard_links_are_files(tmp_path: Path) -> None:
    members: list[Member] = [
        ("a.py", "content", FILE),
        ("b.py", "a.py", HARD),
        ("c.py", "./b.py", HARD),
        ("s.py", "a.py", LINK),
        ("t.py", "s.py", HARD),
    ]
    found = rows(open_source(tar(tmp_path / "x.tgz", members)))
    assert [file.content for file in found.values()] == [b"content"] * 3 + [None] * 2
    for members in ([("b.py", "a.py", HARD)], [("b.py", "a.py", HARD), ("a.py", "late", FILE)]):
        with pytest.raises(Refused, match="a hard link to what the archive does not have"):
            list(open_source(tar(tmp_path / "y.tgz", members)).files())


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, b"Z"])
def test_devices(kind: bytes, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="a device, a pipe or a type"):
        list(open_source(tar(tmp_path / "x.tgz", [("null.txt", "", kind)])).files())


def test_devices_in_a_zip(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as file:
        member = zipfile.ZipInfo("dev")
        member.create_system, member.external_attr = 3, (stat.S_IFCHR | 0o644) << 16
        file.writestr(member, "")
    with pytest.raises(Refused, match="a device or a pipe"):
        list(open_source(tmp_path / "x.zip").files())


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_that_are_there_twice(tmp_path: Path) -> None:
    for path in both(tmp_path, [("a.py", "1", FILE), ("./a.py", "1", FILE), ("b.py", "", FILE)]):
        assert found_in(path) == ["a.py", "b.py"]
    for second in ("2", "22"):
        for path in both(tmp_path, [("a.py", "1", FILE), ("a.py", second, FILE)]):
            with pytest.raises(Refused, match="two members of that name with different contents"):
                list(open_source(path).files())
    for path in both(tmp_path, [("a.py", "1", FILE), ("a.py", "b.py", LINK)]):
        with pytest.raises(Refused, match="of different kinds"):
            list(open_source(path).files())


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "SMALL_BYTES", 100_000)


@pytest.mark.usefixtures("small_limits")
def test_archives_that_unpack_to_far_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in both(tmp_path, [("a.txt", b"\0" * 5_000_000, FILE), ("b.py", "", FILE)]):
        assert path.stat().st_size * 200 < 5_000_000
        with pytest.raises(Refused, match="that it unpacks to no more than"):
            list(open_source(path).files())
    noise = random.Random(1).randbytes(300_000)
    for path in both(tmp_path, [("a.txt", noise, FILE), ("b.py", "", FILE)]):
        assert found_in(path) == ["b.py"]
        monkeypatch.setattr(archive, "MAX_UNPACKED_BYTES", 200_000)
        with pytest.raises(Refused, match="200,000 bytes"):
            list(open_source(path).files())
        monkeypatch.undo()


@pytest.mark.usefixtures("small_limits")
def test_sizes_in_headers_are_not_believed(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", [("a.py", b"#" * 5_000_000, FILE)])
    # Both the local header and the directory say 10 bytes.
    path.write_bytes(path.read_bytes().replace(struct.pack("<I", 5_000_000), struct.pack("<I", 10)))
    with pytest.raises(Unavailable, match="Bad CRC"):
        list(open_source(path).files())


@pytest.mark.usefixtures("small_limits")
def test_hard_links_count_as_often_as_they_are_read(tmp_path: Path) -> None:
    members: list[Member] = [("a.py", random.Random(1).randbytes(20_000), FILE)]
    members += [(f"{number}.py", "a.py", HARD) for number in range(1000)]
    with pytest.raises(Refused, match="unpacks"):
        list(open_source(tar(tmp_path / "x.tgz", members)).files())


def test_sparse_members(tmp_path: Path) -> None:
    """Of 1 TB, of which the archive holds nothing."""
    member = tarfile.TarInfo("a.py")
    member.pax_headers = {
        "GNU.sparse.major": "0",
        "GNU.sparse.minor": "1",
        "GNU.sparse.name": "a.py",
        "GNU.sparse.size": str(1 << 40),
        "GNU.sparse.map": "0,0",
    }
    with tarfile.open(tmp_path / "x.tgz", "w:gz", format=tarfile.PAX_FORMAT) as file:
        file.addfile(member)
    with pytest.raises(Refused, match="unpacks"):
        list(open_source(tmp_path / "x.tgz").files())


def test_too_many_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_MEMBERS", 9)
    for path in both(tmp_path, [(f"{number}.txt", "", FILE) for number in range(10)]):
        with pytest.raises(Refused, match="no more than 9 members"):
            list(open_source(path).files())


def test_encrypted_and_unusual_zips(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", [("a.py", "1", FILE)])
    whole = bytearray(path.read_bytes())
    whole[6] |= 1
    whole[whole.index(b"PK\1\2") + 8] |= 1
    path.write_bytes(whole)
    with pytest.raises(Refused, match="an encrypted member"):
        list(open_source(path).files())
    path = zipped(tmp_path / "x.zip", [("a.py", "1", FILE)], method=zipfile.ZIP_LZMA)
    with pytest.raises(Refused, match="compression 14, which is not deflate"):
        list(open_source(path).files())


def test_names_in_a_zip_without_the_mark_for_utf8(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", [("aXX.py", "1", FILE), ("bX.py", "2", FILE)])
    path.write_bytes(path.read_bytes().replace(b"aXX.py", "aé.py".encode()).replace(b"bX.py", b"b\xe9.py"))
    assert found_in(path) == ["aé.py", "b\\xe9.py"]


def test_headers_that_make_tarfile_go_backwards(tmp_path: Path) -> None:
    """Sizes below zero: CPython's CVE-2025-8194."""
    for kind in (FILE, tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME):
        header = bytearray(tarfile.TarInfo("a.py").tobuf())
        header[156:157] = kind
        header[124:136] = b"\xff" + (-512).to_bytes(11, "big", signed=True)
        header[148:156] = b" " * 8
        header[148:156] = b"%06o\0 " % sum(header)
        path = tmp_path / "x.tgz"
        path.write_bytes(gzip.compress(bytes(header) * 4 + b"\0" * 1024))
        with pytest.raises(Unavailable, match="a header of"):
            list(open_source(path).files())
    path = tar(tmp_path / "y.tgz", [("n" * (2 << 20), "", FILE)], format=tarfile.GNU_FORMAT)
    with pytest.raises(Unavailable, match="a header of"):
        list(open_source(path).files())
    member = tarfile.TarInfo("a.py")
    member.pax_headers = {"size": "-1024"}
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as file:
        file.addfile(member)
    with pytest.raises(Unavailable, match="a member of -1,024 bytes"):
        list(open_source(path).files())


def test_damage_in_the_middle_is_not_taken_for_the_end(tmp_path: Path) -> None:
    path = tar(tmp_path / "x.tgz", [("a.py", "1", FILE), ("b.py", "2", FILE), ("c.py", "3", FILE)])
    whole = bytearray(gzip.decompress(path.read_bytes()))
    whole[1024 + 10] ^= 1
    path.write_bytes(gzip.compress(bytes(whole)))
    with pytest.raises(Unavailable, match="no member and no end at byte 1,024"):
        list(open_source(path).files())


def test_what_is_no_archive(tmp_path: Path) -> None:
    contents = {"text": b"hello", "empty": b"", "gzip of text": gzip.compress(b"hello" * 1000), "nul": b"\0" * 2000}
    for name in ("x.zip", "x.whl", "x.tar.gz", "x.tgz"):
        for content in contents.values():
            write(tmp_path, {name: content})
            with pytest.raises(Unavailable, match="expected a whole archive"):
                list(open_source(tmp_path / name).files())
    assert found_in(tar(tmp_path / "none.tgz", [])) == []
    assert found_in(zipped(tmp_path / "none.zip", [])) == []


MEMBERS: list[Member] = [
    ("p-1.0/", "", FOLDER),
    ("p-1.0/setup.py", "import x\n" * 20, FILE),
    ("p-1.0/" + "long/" * 30 + "é.py", "y = 1", FILE),
    ("p-1.0/link.py", "setup.py", LINK),
    ("p-1.0/tool", "#!/usr/bin/python\n", FILE),
    ("p-1.0/data.bin", bytes(range(256)) * 10, FILE),
]


def opens_or_says_why(path: Path) -> None:
    try:
        rows(open_source(path))
    except CodelakeError as error:
        assert error.expected is not None and error.do


def test_truncated_archives(tmp_path: Path) -> None:
    for path in both(tmp_path, MEMBERS):
        whole = path.read_bytes()
        for length in range(0, len(whole), 7):
            path.write_bytes(whole[:length])
            with pytest.raises((Unavailable, Refused)):
                list(open_source(path).files())
    whole = gzip.decompress(tar(tmp_path / "x.tgz", MEMBERS).read_bytes())
    for length in range(0, len(whole), 301):
        (tmp_path / "x.tgz").write_bytes(gzip.compress(whole[:length]))
        opens_or_says_why(tmp_path / "x.tgz")


def test_damaged_archives_never_break_out(tmp_path: Path) -> None:
    chance = random.Random(7)
    members = [*MEMBERS, ("p-1.0/hard.py", "p-1.0/setup.py", HARD)]
    tars = [
        gzip.decompress(tar(tmp_path / "x.tgz", members, format=form).read_bytes())
        for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT)
    ]
    zips = [zipped(tmp_path / "x.zip", MEMBERS, method=way).read_bytes() for way in (0, 8)]
    for _ in range(250):
        for whole, path in [(chance.choice(tars), tmp_path / "x.tgz"), (chance.choice(zips), tmp_path / "x.zip")]:
            damaged = bytearray(whole)
            for _ in range(chance.randint(1, 6)):
                at = chance.randrange(len(damaged))
                damaged[at] = chance.choice([0, 255, 0x2F, 0x2E, 0x30, chance.randrange(256)])
            path.write_bytes(gzip.compress(bytes(damaged), 1) if path.suffix == ".tgz" else bytes(damaged))
            opens_or_says_why(path)


def test_nothing_is_left_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    for path in both(tmp_path, MEMBERS):
        files = open_source(path).files()
        next(files)
        assert list((tmp_path / "tmp").iterdir()) == []
        files.close()  # type: ignore[attr-defined]


def test_an_archive_that_changes(tmp_path: Path) -> None:
    path = tar(tmp_path / "x.tgz", MEMBERS)
    source = open_source(path)
    tar(path, [("other.py", "", FILE)])
    with pytest.raises(Unavailable, match="expected the archive as it was"):
        list(source.files())


def test_no_room_to_unpack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    path = tar(tmp_path / "x.tgz", MEMBERS)
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda: Path("/dev/full").open("r+b", buffering=0))
    with pytest.raises(Unavailable, match="No space left on device"):
        list(open_source(path).files())


def test_large_members(tmp_path: Path) -> None:
    for path in both(tmp_path, [("a.py", "12345", FILE), ("b.py", "1234", FILE), ("c.txt", "", FILE)]):
        found = rows(open_source(path, max_file_bytes=4))
        assert (found["a.py"].reason, found["a.py"].n_bytes) == (Reason.TOO_LARGE, 5)
        assert found["b.py"].content == b"1234"
