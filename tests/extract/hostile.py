"""Files that no extractor expects: broken, mutated, deep, long, binary, in wrong encodings.

`files(seed, n)` is the same sequence for the same seed on every machine. The first ones are made by hand, the
others are mutations of small programs.
"""

from __future__ import annotations

import codecs
import io
import pickle
import random
import zipfile
import zlib
from collections.abc import Callable, Iterator
from itertools import islice

MODERN = '''\
"""A module."""
from __future__ import annotations
import os.path as p, sys
from . import (a, b as c,)
from ..pkg.mod import *

@decorated(1)
class A(Base[int], metaclass=M, **kw):
    """Doc."""
    x: int = 1; y = z = [i for i in range(10) if i % 2 and i]
    def f(self, a, /, b: str = "x", *args, c=None, **rest) -> dict[str, int]:
        nonlocal_ = lambda q, *w: (yield)
        with open(a) as f, g() as (h, k): return {**a, 'b': c, **{d: e for d, e in f}}
        try:
            raise E("a" 'b' f"{x!r:>{w}} {{}} {y=}") from None
        except (A, B) as e: del e.x, e[0], (u, v)
        except* C: pass
        else: assert (n := 10) > 5, "m"
        finally: global g1, g2
    async def g(self):
        async for i in aiter(): await i ** 2
        async with a: return *a, b
def fib(n):
    while n < 0x_FF and not n in (1.5e3, 1j, 0o17, ...):
        n -= -~n if n else +n @ m // 2 << 1 & 3 ^ 4 | 5
        if n: continue
        elif a is not b: break
        else: yield from fib(n)
    for x, *y in z: print(x, end='', *y, **k); a[1:2, ::3, ...] = b
match cmd.split():
    case [x, *rest] | {'k': -1, **r}: pass
    case Point(x=0, y=str() as s) if s: ...
    case (1 | None) as one: pass
    case a.b: pass
    case _: pass
if __name__ == '__main__': fib(10); A().f(*[1], **{'a': 2})
'''
NEWER = """\
type X[T: int = str, *Ts, **P] = list[T]
def f[T](x: T, *args: *Ts) -> T:
    return f"{x["a"]!r:{"b"}} {'\\n'.join(y)}" + t"{x} {y!r:>3}"
class A[T]: pass
try: pass
except A, B: pass
with (open(a) as b, c as d,): pass
"""
OLD = """\
# -*- coding: latin-1 -*-
import urllib2, string
print "a", 'b' % x,
print >>sys.stderr, `x`, 0777, 10L, 0xFFL, ur'\\u1234', u"\xe9"
exec code in g, l
exec "x = %d" % 1 in ns
def f(a, (b, c)=(1, 2), d=None):
    if a <> b: raise ValueError, "x", tb
    try:
        print
    except (A, B), e: print e
    except socket.error, (no, msg):
        raise
    return lambda (k, v): d.has_key(k)
class Old:
\tdef m(self):
        \tprint self; return 1
True, False = 1, 0
f(async=True, print=1)
"""
FLOW = """\
__all__ = ["a", 'b'] + m.__all__ + [*c, d]; __all__ += ('\\ud800',); __all__.remove('e'); __all__.extend(n.__all__)
getattr(o, 'a', setattr(o, "\\udfff", 1)).b[-1] = d[-0xFF] = x[1:2] = {'k': v, **w, -1: u, (1, 2): t}
(a, (b, *c), [d.e, f[0]]), *g = h = i
for j.k, (l, *m['n']) in p: q += r; s.t[u] -= v; del w.x, y[0]
with a as (b, *c), d as e.f, g as h[i]: j
try: x = 1
except (A, B) as x: x = x
except C as x: del x
else: x
match a, b:
    case {'\\ud800': x, -1: y, **z} | C(x, y=D(z)) | [x, *y, z] as w: pass
    case "a" 'b' | -1 + 2j | a.b.c | None: x
class C(B, *D, metaclass=M, **k):
    __x = y = lambda __z, *a, b=__x: (yield b)
    def __x(self, __x=__x, *, y: '__x' = y): self.__x, C.__y__ = __x, y; global v, w; v = w
    def __x(self): nonlocal y; return [v for v in self.__x if (w := v) async for z in v]
    x, x, x = (f'{x!r:>{y}}{x}' for x in y), {x: y for x in y}, {*x, y}
async def f(f, f=f, *f): return await (yield from f(*f, f, f=f, **f)) or f and f if f else f < f <= f
"""
_WORDS = """
def class return if elif else for while try except finally with as import from lambda yield await async not and or in
is None True False pass break continue global nonlocal del raise assert match case type print exec
"""
WORDS = [word.encode() for word in _WORDS.split()]
SIGNS = b"( ) [ ] { } , : ; . = == := -> @ * ** + - ~ << >> <> != \\ ` ' \" ''' \"\"\" # $ ? ! | & ^ % / //".split()
ODD = [
    *(b"\0", b"\x01", b"\x1a", b"\x7f", b"\x85", b"\xa0", b"\xff", b"\xfe", b"\xc3", b"\xed\xa0\x80"),
    *(codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF32_BE, b"\xf4\x90\x80\x80", "\U0001f600".encode()),
    *("\u2028".encode(), "\u200b".encode(), "é".encode(), "ﬁ".encode(), "´".encode(), b"\r", b"\r\n", b"\n"),
    *(b"\n\n", b"\f", b"\v", b"\t", b" \t", b"    ", b"\\\n", b"\\\r\n", b"\\x", b"\\ud800", b"\\N{DASH}", b"\\N{"),
    *(b"f'{", b'f"""{', b"}'", b"rb'", b"<<<<<<< HEAD\n", b"\n=======\n", b"\n>>>>>>> x\n", b"...", b"1__0"),
    *(b"0777", b"08", b"1e", b"0x", b"1" * 50, b"# coding: utf-16\n"),
]
_ENCODINGS = """
utf-8 latin-1 ascii utf-16 utf-16-le utf-16-be utf-32 utf-8-sig utf-7 cp1252 koi8-r gbk big5 shift_jis euc_jp
iso2022_jp hz unicode_escape raw_unicode_escape cp037 mac_roman utf-8-unix latin-1-dos utf_8_sig
"""
ENCODINGS = _ENCODINGS.split()
_ODD_COOKIES = """
rot13 hex base64 zlib bz2 uu quopri idna punycode undefined mbcs oem charmap none x-unknown ../etc/passwd __init__ - .
utf8 UTF8 UTF-8 string_escape unicode_internal cp65001
"""
COOKIES = [*ENCODINGS, *_ODD_COOKIES.split(), "a" * 5000]


def files(seed: int, n: int) -> Iterator[tuple[str, bytes]]:
    """`n` files, each with a name that says what it is."""
    return islice(_all(seed), n)


def _all(seed: int) -> Iterator[tuple[str, bytes]]:
    yield from by_hand()
    rng = random.Random(seed)
    i = 0
    while True:
        i += 1
        raw, names = _mutated(rng)
        yield f"{seed}-{i} {' '.join(names)}", raw


# By hand


def by_hand() -> Iterator[tuple[str, bytes]]:
    yield from _programs()
    yield from _small()
    yield from _deep()
    yield from _long()
    yield from _flowing()
    yield from _encoded()
    yield from _binary()


def _programs() -> Iterator[tuple[str, bytes]]:
    for name, text in (("modern", MODERN), ("newer", NEWER), ("old", OLD), ("flow", FLOW)):
        yield name, text.encode("latin-1" if name == "old" else "utf-8")
        for newline in ("\r", "\r\n", "\n\r", "\f\n", "\n\f", "\u2028", "\x85", "\v", "\\\n", "\n\n"):
            yield f"{name} with {newline!r}", text.replace("\n", newline).encode("latin-1", "backslashreplace")


def _small() -> Iterator[tuple[str, bytes]]:
    texts = (
        "|\n|\r|\r\n|\f|\\|\\\n|#|'|\"|\"\"\"|f'|f'{|f'{x|f'{x!|f'{x:|f'{{|(|)|:|;|,|.|..|...|@|*|=|0|0x|1_|1e|a.|a.b."
        "|a(|a[|\0|\0\0|x\0"
    )
    for text in texts.split("|"):
        yield f"only {text!r}", text.encode()
    for word in WORDS:
        yield f"only {word.decode()}", word
        yield f"{word.decode()} x", word + b" x"
        yield f"{word.decode()}: block", word + b":\n    " + word + b"\n"
        yield f"{word.decode()} = 1", word + b" = 1"
    yield (
        "surrogates in escapes",
        b"d['\\ud800'] = '\\udfff'; x = f'\\ud800{d[\"\\udc00\"]}'; def f(a='\\ud800'): pass\n",
    )
    yield (
        "surrogates that parse",
        b"d['\\ud800'] = '\\udfff'\nx = {'\\ud800': 1}\nf(**{'\\udc00': 2})\ng: '\\ud800' = 1\n",
    )
    yield "an annotation that is no type", b"x: 'a b' = 1\ny: '('\nz: '' = 2\ndef f(a: '\\0', b: 'x[') -> '1 +': pass\n"
    yield "conflict", b"<<<<<<< HEAD\ndef f(a):\n=======\ndef f(b):\n>>>>>>> x\n    pass\n"
    yield "many conflicts", b"<<<<<<< HEAD\na\n" * 300 + b"=======\n" * 300 + b">>>>>>> x\n" * 300
    yield "names that normalize", "ﬁ = 1; ｆｏｏ = ﬁ; ª = 2; def ℌ(): pass\n".encode()
    yield "all in one line", MODERN.replace("\n", " ").encode()


def _deep() -> Iterator[tuple[str, bytes]]:
    pairs = "( )|[ ]|{ }|{1: }|f( )|a[ ]|(a, )|(a:= )|[* ]"
    for opening, closing in (pair.split() for pair in pairs.split("|")):
        for depth in (90, 150, 300, 1500, 4000):
            yield f"{depth} {opening}", (opening * depth + "x" + closing * depth).encode()
            yield f"{depth} open {opening}", (opening * depth).encode()
            yield f"{depth} closing {closing}", (closing * depth).encode()
    starts = "not |-|~ + |lambda:|lambda x=|await |yield |*|a if b else |a**|f'{|f'''{|x = "
    for start in starts.split("|"):
        for times in (100, 3000):
            yield f"{times} {start}", start.encode() * times + b"x"
    yield "100,000 not", b"not " * 100_000 + b"x"
    signs = "+ and or < in . & ^ ** , = if @ is := '' () [0] .b()"
    for sign in signs.split():
        yield f"10,000 terms of {sign}", f"x = a {sign} ".encode() + f"a {sign} ".encode() * 10_000 + b"a"
        yield f"10,000 times {sign}", b"x" + sign.encode() * 10_000
    yield "mixed operators", b"x = " + b"a & b ^ c | *d ** " * 3000 + b"e"
    heads = "if a|for x in y|while a|def f()|class A|try|with a as b|match a|async def f()|else"
    for depth in (50, 99, 101, 400):
        for head in heads.split("|"):
            lines = [f"{' ' * i}{head}:" for i in range(depth)]
            yield f"{depth} nested {head}", "\n".join(lines).encode()
            yield f"{depth} nested {head} with a body", "\n".join([*lines, f"{' ' * depth}pass"]).encode()
    lines = [f"{' ' * i}{word}:\n{' ' * i} x" for i in range(100) for word in ("if a", "else", "try", "finally")]
    yield "stairs", "\n".join(lines).encode()
    yield "5,000 elifs", b"if a: pass\n" + b"elif b: x = 1\n" * 5000 + b"else: y\n"
    yield "15,000 elifs", b"if a: pass\n" + b"elif b: pass\n" * 15_000
    yield "1,000 excepts", b"try: pass\n" + b"except A as e: x = e\n" * 1000
    yield "1,000 comprehensions", b"[x " + b"for x in y if z " * 1000 + b"]"
    yield "200 nested comprehensions", b"[x for x in " * 190 + b"y" + b"]" * 190
    yield "1,000 decorators", b"@a\n" * 1000 + b"def f(): pass"
    yield "1,000 decorators of nothing", b"@a\n" * 1000
    yield "1,000 parameters", b"def f(" + b",".join(b"a%d=%d" % (i, i) for i in range(1000)) + b"): pass"
    yield "1,000 keywords", b"f(" + b",".join(b"a%d=%d" % (i, i) for i in range(1000)) + b")"
    yield "2,000 cases", b"match a:\n" + b" case 1 | 2 | [x, *_]: pass\n" * 2000


def _long() -> Iterator[tuple[str, bytes]]:
    yield "an int of 5,000 digits", b"x = " + b"1" * 5000
    yield "an int of 5,000 hexadecimal digits", b"x = 0x" + b"f" * 5000 + b"\nd[0x" + b"f" * 5000 + b"] = x"
    yield "an octal int", b"x = 0" + b"7" * 5000
    yield "a float", b"x = 1" + b"0" * 5000 + b".5e" + b"9" * 50
    yield "a name of 1 MB", b"x" * 1_000_000
    yield "a string of 1 MB", b"x = '" + b"a" * 1_000_000 + b"'"
    yield "a string of 1 MB that is open", b"x = '" + b"a" * 1_000_000
    yield "a comment of 1 MB", b"#" + b"a" * 1_000_000
    yield "spaces of 1 MB", b"x =" + b" " * 1_000_000 + b"1"
    yield "an indentation of 1 MB", b"if x:\n" + b" " * 1_000_000 + b"pass"
    yield "a line of 200 kB", b"x = [" + b"1, " * 60_000 + b"]"
    yield "a line of 200 kB that is broken", b"x = [" + b"1 2, " * 20_000
    yield "30,000 newlines", b"\n" * 30_000
    yield "30,000 carriage returns", b"\r" * 30_000
    yield "5,000 continuations", b"x = \\\n" * 5000
    yield "5,000 open brackets in lines", b"f(\n" * 5000
    yield "5,000 open definitions", b"def f(\n" * 5000
    yield "5,000 quotes", b"'" * 5000 + b'"' * 5001
    yield "5,000 quotes in lines", b"'\n" * 5000
    yield "1,001 long quotes", b"'''\n" * 1001
    yield "2,000 colons", b":" * 2000
    yield "2,000 dollars", b"$ a\n" * 2000
    yield "2,000 semicolons", b"x;" * 2000
    yield "2,000 backquotes", b"`x` " * 2000
    yield "2,000 type parameters", b"def f[T = int](): pass\n" * 2000
    yield "2,000 prints", b"print a, b; print >>c, d\n" * 2000
    yield "2,000 tabs and spaces", b"".join(b" \t" * (i % 7) + b"if x:\n" for i in range(2000))


def _flowing() -> Iterator[tuple[str, bytes]]:
    """What is hard on flow facts, labels and reaching definitions."""
    number = b"0x" + b"f" * 5000
    yield "__all__ without a number", b"__all__.remove(" + number + b")\n__all__ += " + number
    yield "keys too large", b"d[-%s] = d[-%s]; x = {-%s: 1, - -1: 2, -1j: 3, -True: 4}" % (number, b"9" * 30, number)
    yield "texts with surrogates", b"getattr(o, '\\ud800'); import_module('a\\udfff'); __all__ = ['\\udc00']"
    yield "texts with NULs", b"getattr(o, '\\0'); __all__ = ['\\0']; d['\\0'] = d[b'\\0']"
    yield (
        "odd uses of __all__",
        (
            b"__all__: list\n__all__ = *a, *b\n__all__ += f()\n__all__.append()\n__all__.extend(*x)\n"
            b"__all__.remove(b'x')\n__all__.remove(1j)\n__all__.remove(...)\n"
            b"__all__, x = 1, 2\n__all__ = __all__ + __all__ + [__all__]\n"
        ),
    )
    for n in (900, 3000, 20_000):
        yield f"__all__ of {n} lists", b"__all__ = " + b"['a'] + " * n + b"[]"
    yield "__all__ nested", b"__all__ = " + b"['a'] + (" * 3000 + b"[]" + b")" * 3000
    for n in (150, 4000):
        yield f"{n} targets in targets", b"(" * n + b"a" + b",)" * n + b" = v"
        yield f"{n} loop targets in targets", b"for " + b"[" * n + b"*a" + b"]" * n + b" in v: pass"
        for opening, closing in ((b"[", b"]"), (b"C(", b")"), (b"{1: ", b"}"), (b"(1 | ", b")"), (b"C(x=", b")")):
            yield f"{n} patterns {opening!r}", b"match v:\n case " + opening * n + b"x" + closing * n + b": pass"
    yield (
        "3,000 keys of a pattern",
        b"match v:\n case {%s}: pass" % b", ".join(b"%d: x%d" % (i, i) for i in range(3000)),
    )
    yield "patterns that are none", b"match v:\n case {**a, 1: b, **c}: d\n case C(x=1, 2): e\n case [*a, *b] | *c: f\n"
    yield "targets that are none", b"f() = 1\n(a, b) += 1\n*c += 2\n[d] += e\nfor 1 in f: g\nwith a as f(): h\n"
    yield "defaults that are missing", b"def f(a=1, b, c=2, *, d, e=3, f): pass\nlambda a=1, b: 0\n"
    yield "2,000 parameters of one name", b"def f(" + b"a, " * 2000 + b"): a"
    yield "5,000 functions of one name", b"def f(a): pass\n" * 5000
    yield "5,000 values of an f-string", b"f'" + b"{a}" * 5000 + b"'"
    yield "2,000 lambdas in lambdas", b"lambda a_long_name:" * 2000 + b"x"
    yield "type parameters of one name", b"class A[T, T]: pass\ndef f[T, *T, **T](T): pass\ntype X[T, T] = T\n"
    pair = b" if a: x = 1\n f(x)\n"
    yield "250,000 pairs", b"while a:\n" + pair * 500
    yield "9,000,000 pairs", b"while a:\n" + pair * 3000
    yield (
        "1,500,000 pairs in six functions",
        b"".join(b"def f():\n while a:\n" + b"  if a: x = 1\n  f(x)\n" * 500 for _ in "abcdef"),
    )
    yield "2,000 handlers of one name", b"try: pass\n" + b"except E as e: e = 1; f(e)\n" * 2000
    yield (
        "a name of 20 kB with 2,000 parameters",
        b"def %s(%s): pass" % (b"f" * 20_000, b", ".join(b"a%d" % i for i in range(2000))),
    )


def _encoded() -> Iterator[tuple[str, bytes]]:
    text = "é = 'ж'\nprint(é)\n"
    for cookie in COOKIES:
        line = f"# -*- coding: {cookie} -*-\n"
        yield f"cookie {cookie[:20]}, ASCII", (line + "x = 1\n").encode()
        yield f"cookie {cookie[:20]}, UTF-8", (line + text).encode()
        yield f"cookie {cookie[:20]}, Latin", (line + "é = 1\n").encode("latin-1")
        yield f"cookie {cookie[:20]} in line 2, broken", b"#!/usr/bin/python\n" + line.encode() + b"print 'a\xe9'\n"
        yield f"cookie {cookie[:20]} after a mark", codecs.BOM_UTF8 + (line + text).encode()
    for encoding in ENCODINGS:
        try:
            raw = f"# coding: {encoding}\n{text}".encode(encoding)
        except (UnicodeError, LookupError):
            continue
        yield f"in {encoding}", raw
        yield f"in {encoding}, short of a byte", raw[:-1]
        yield f"in {encoding}, a byte more", raw + b"\xe9"
    bodies = (b"", b"\n", b"x = 1\n", b"\xff", "x = 1\n".encode("utf-16-le"), "é".encode("utf-32-be"))
    for name in ("BOM_UTF8", "BOM_UTF16_LE", "BOM_UTF16_BE", "BOM_UTF32_LE", "BOM_UTF32_BE"):
        mark = getattr(codecs, name)
        for body in (*bodies, mark + b"x"):
            yield f"{name} before {body[:12]!r}", mark + body
    yield "surrogates by utf-7", b"# coding: utf-7\nx = '+2AA-'\n"
    yield "surrogates by escapes", b"# coding: unicode_escape\nx = '\\ud800'\n"
    yield "code by escapes", b"# coding: unicode_escape\nx = 1\\nimport os\\ny = 2\n"
    yield "mixed encodings", "x = 'é'\n".encode() + "y = 'é'\n".encode("latin-1") + "z = 'é'\n".encode("utf-16-le")
    yield "a cookie far away", b"#" + b" " * 100_000 + b"coding: latin-1\nx = '\xe9'"


def _binary() -> Iterator[tuple[str, bytes]]:
    rng = random.Random(0)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(zipfile.ZipInfo("a.py"), MODERN)
    yield "zip", packed.getvalue()
    yield "zlib", zlib.compress(MODERN.encode() * 10)
    yield "elf", b"\x7fELF\x02\x01\x01" + bytes(9) + rng.randbytes(2000) + bytes(2000)
    yield "png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + rng.randbytes(2000)
    yield "pickle", pickle.dumps({"a": list(range(300)), "b": MODERN})
    yield "pickle 0", pickle.dumps({"a": list(range(300)), "b": MODERN}, 0)
    yield "bytecode", b"\xa7\r\r\n" + bytes(12) + rng.randbytes(500)
    yield "random", rng.randbytes(5000)
    yield "all bytes", bytes(range(256)) * 4
    yield "text and then binary", MODERN.encode() + rng.randbytes(300)
    yield "zeros behind text", MODERN.encode() + bytes(100)
    yield "English", b"It's a file, isn't it? (No, it is not; \"it\" can't be.)\n" * 50
    yield "HTML", b"<html><body class='a'>It's &lt;b&gt;</body></html>\n" * 50
    yield "JSON", b'{"a": [1, 2.5, null, true, {"b": "\\u00e9"}]}\n' * 50
    yield "C", b"int main(int argc, char **argv) { return a->b ? 1 : 'x'; } /* it's */\n" * 50
    yield "diff", b"--- a\n+++ b\n@@ -1,3 +1,3 @@\n-x = 1\n+x = 2\n" * 50
    yield "doctest", b">>> x = 1\n>>> print x\n1\n" * 50


# Mutations


def _mutated(rng: random.Random) -> tuple[bytes, list[str]]:
    raw = _start(rng)
    names = []
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 6))):
        mutate = rng.choice(_MUTATIONS)
        raw = mutate(rng, raw)[:8000]
        names.append(mutate.__name__.strip("_"))
    return raw, names


def _start(rng: random.Random) -> bytes:
    """Some lines of a program, most often from where a statement of the module starts."""
    text = rng.choice((MODERN, MODERN, NEWER, OLD, FLOW))
    lines = text.splitlines(keepends=True)
    at = rng.randrange(len(lines))
    if rng.random() < 0.7:
        while at and lines[at][:1].isspace():
            at -= 1
    found = "".join(lines[at : at + rng.randrange(1, 14)])
    return found.encode(rng.choice(("utf-8", "utf-8", "latin-1")), "replace")


def _place(rng: random.Random, raw: bytes) -> int:
    return rng.randrange(len(raw) + 1)


def _part(rng: random.Random, raw: bytes) -> tuple[int, int]:
    start = _place(rng, raw)
    return start, min(len(raw), start + rng.choice((1, 1, 2, 5, 20, 100)))


def _truncated(rng: random.Random, raw: bytes) -> bytes:
    return raw[: _place(rng, raw)]


def _beheaded(rng: random.Random, raw: bytes) -> bytes:
    return raw[_place(rng, raw) :]


def _flipped(rng: random.Random, raw: bytes) -> bytes:
    changed = bytearray(raw)
    for _ in range(rng.choice((1, 1, 3, 10))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _without_part(rng: random.Random, raw: bytes) -> bytes:
    start, end = _part(rng, raw)
    return raw[:start] + raw[end:]


def _with_part_twice(rng: random.Random, raw: bytes) -> bytes:
    start, end = _part(rng, raw)
    return raw[:end] + raw[start:end] * rng.choice((1, 2, 30)) + raw[end:]


def _halves_swapped(rng: random.Random, raw: bytes) -> bytes:
    at = _place(rng, raw)
    return raw[at:] + raw[:at]


def _with_odd(rng: random.Random, raw: bytes) -> bytes:
    at = _place(rng, raw)
    return raw[:at] + rng.choice(ODD) + raw[at:]


def _with_sign(rng: random.Random, raw: bytes) -> bytes:
    at = _place(rng, raw)
    return raw[:at] + rng.choice(SIGNS) + raw[at:]


def _with_word(rng: random.Random, raw: bytes) -> bytes:
    at = _place(rng, raw)
    return raw[:at] + b" " + rng.choice(WORDS) + b" " + raw[at:]


def _without_sign(rng: random.Random, raw: bytes) -> bytes:
    sign = rng.choice(SIGNS)
    at = raw.find(sign, _place(rng, raw))
    return raw if at < 0 else raw[:at] + raw[at + len(sign) :]


def _other_word(rng: random.Random, raw: bytes) -> bytes:
    return raw.replace(rng.choice(WORDS), rng.choice(WORDS))


def _lines_shuffled(rng: random.Random, raw: bytes) -> bytes:
    lines = raw.splitlines(keepends=True)
    rng.shuffle(lines)
    return b"".join(lines)


def _indented(rng: random.Random, raw: bytes) -> bytes:
    lines = raw.splitlines(keepends=True)
    for _ in range(rng.choice((1, 3))):
        if lines:
            i = rng.randrange(len(lines))
            lines[i] = rng.choice((b" ", b"\t", b"  \t", b"", b"\f")) + lines[i].lstrip(b" " * rng.randrange(2))
    return b"".join(lines)


def _other_newlines(rng: random.Random, raw: bytes) -> bytes:
    return raw.replace(b"\n", rng.choice((b"\r", b"\r\n", b" ", b"", b"\\\n", b"\f", b"\0")), rng.choice((-1, 1, 3)))


def _spliced(rng: random.Random, raw: bytes) -> bytes:
    return raw[: _place(rng, raw)] + _beheaded(rng, _start(rng))


def _other_encoding(rng: random.Random, raw: bytes) -> bytes:
    try:
        return raw.decode("utf-8", "replace").encode(rng.choice(ENCODINGS), "replace")
    except (UnicodeError, LookupError):
        return raw


def _with_cookie(rng: random.Random, raw: bytes) -> bytes:
    return b"# coding: " + rng.choice(COOKIES).encode() + b"\n" + raw


def _with_mark(rng: random.Random, raw: bytes) -> bytes:
    return rng.choice((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE)) + raw


def _wrapped(rng: random.Random, raw: bytes) -> bytes:
    n = rng.choice((1, 5, 60, 250))
    pairs = ((b"(", b")"), (b"[", b"]"), (b"{", b"}"), (b"f(", b")"), (b'"""', b'"""'), (b"f'{", b"}'"))
    opening, closing = rng.choice(pairs)
    return opening * n + raw + closing * rng.choice((n, n - 1, 0))


_MUTATIONS: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    *(_truncated, _truncated, _truncated, _beheaded, _flipped, _flipped, _without_part, _without_part),
    *(_with_part_twice, _halves_swapped, _with_odd, _with_odd, _with_sign, _with_sign, _with_word, _without_sign),
    *(_without_sign, _other_word, _lines_shuffled, _indented, _other_newlines, _spliced, _other_encoding),
    *(_with_cookie, _with_mark, _wrapped),
)
