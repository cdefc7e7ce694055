"""Every construct of Python's grammar in small, with the places that are easily got wrong. One an entry."""

from __future__ import annotations

_LINES = r"""
*a.b, c = d
x = [*a[1:], *a(), *a + b, *a.b.c, *a & b ^ c]
f(*a or b, *a if b else c, **k or j)
a & b ^ c & d | e ^ f & (g ^ h) & i
(a) ^ (b) & (c)
a = (b ^ c) & d
x: List[int] | Foo | None = 1
x: (A | B) | C[int] | (D | E)
x: a.b.C[int, ...] | None
x: Foo[1:2]
x: Foo[a,]
(x): int = 1
a.b: int
a[1]: int = 2
async def f(): await a ** b; return await (a ** b) ** c
async def f():\n async for x in y: pass\n else: pass\n async with a as b, c: pass\n return [x async for x in y]
def f(a, /, b: int=1, *args: *Ts, c, d=2, **kw: Any) -> x: ...
def f(*, a): pass
def f(a=1, /, *, b=2): pass
def f(a: X[int] | None = None, *, b: dict[str, int] | Y | None = None): pass
lambda: 0
lambda a, *b, c=1, **d: (yield)
lambda *, a: a
x = lambda a, /, b=1: a
with a: pass
with (a): pass
with (a, b): pass
with (a, b) as c: pass
with (a), (b): pass
with (a as b): pass
with (a as b, c as d,): pass
with (yield): pass
with a as (b, c), d as [e, f], g as h.i, j as k[l]: pass
with (open(a)) as b, (c): pass
with (a, b).c as d: pass
with (a if b else c): pass
if a: b;
if a: b; c
if a:\n  b\nelif c:\n  d\nelif e: f\nelse:\n  g
while a: break\nelse: continue
for a, in b: pass
for a, b in c, d: pass
for (a, b), [c, d] in e: pass
for x in *a, b: pass
for a.b in c: pass
for a[0] in c: pass
try: pass\nexcept: pass
try: pass\nexcept A: pass\nexcept (B, C) as e: pass\nelse: pass\nfinally: pass
try: pass\nexcept* A as e: pass
try: pass\nfinally: pass;
del a, b.c, d[0], (e, f), [g]
del (a)
del (a),
del a,
a = b = c, d = e
a = yield
a = yield b, c
a += yield
x = a if b else c if d else e
x = not a in b
x = not a == b and c or d and e
x = a < b <= c != d is not e not in f
x = (a < b) < c
x = a and (b and c) and d
x = -a ** -b ** c
x = ~-+a
x = (a)
x = (a,)
x = ()
x = a,
x = a, *b
x = [a, *b, c,]
x = {a, *b}
x = {**a, 'b': c, **d}
x = {}
x = {a: b for a, b in c if d if e for f in g}
x = {a for a in b}
x = (a for a in b)
f(a for a in b)
f((a for a in b))
f(a, *b, c=d, **e)
f(a)(b)[c].d
f(a := b, c)
(a := b)
x[a:b, c]
x[a, b]
x[a,]
x[*a]
x[*a, b]
x[:]
x[::]
x[a:b:c]
x[(a, b)]
x = 'a' 'b'
x = u'a' 'b'
x = b'a' b'b'
x = 'a' f'{b}' 'c'
x = f'a' 'b'
x = f''
x = f'{a!r:>{b}}{{c}}{d:%H:%M}'
x = f'{a=}' f'{a = !s}' f'{a=:>10}'
x = f'{a:=5}'
x = f'{(lambda x: 1)(2)}'
x = f'{a, b}'
x = f'{ a }'
x = f'{a["b"]}'
x = f'{{}}{a}}}'
x = f'\N{EM DASH}{a}\x41'
x = rf'\{a}\n{{'
x = rf'`{a}\''
x = f'{a:{b}{c}d}'
x = f"{a!s}" "b" u"c"
x = f'{a:}'
x = f'{a!r:}'
x = f'{3.4:10}'
x = r'\n' '\\' '\x41' '\u1234' '\101'
x = 0x1F + 0o17 + 0b11 + 1_000 + 1.5e3 + 1j + .5 + 1. + 00 + 1e1_0j
x = ...
x = None, True, False
import a, b.c as d
from a import b, c as d
from . import a
from .. import (a, b as c,)
from .a.b import *
from ...a import b
from .... import b
from __future__ import (a, b)
global a, b
def f():\n nonlocal a
assert a
assert a, b
raise
raise a
raise a from b
def f(): return
def f(): return *a, b
def f(): return (a, b)
@a\n@b.c(d)\n# x\ndef f(): pass
@a\nclass A(B, *C, metaclass=D, **E): pass
class A: pass
class A(): x = 1
class A(B[C]): "doc"
@(yield_)\nasync def f(): pass
match a:\n case 1: pass\n case -1 | 'a' 'b' | None: pass\n case a.b: pass\n case _: pass
match a, b:\n case [x, *y, _]: pass\n case (x, y): pass\n case (x): pass\n case x, *_: pass\n case x,: pass
match a, b:\n case *a, b: pass
match a,:\n case {'a': b, -1: c, d.e: f, **rest}: pass\n case {}: pass\n case []: pass\n case (): pass
match (a):\n case A(): pass\n case a.B(x, y=z, w=1 as q): pass\n case (A(1) | B()) as c if d: pass\n case -1.5-2j: pass
match a:\n case (1 | 2): pass\n case [(a, b), {'x': [c]}] if x: pass\n case str() as b: pass\n case {"x": y as z}: pass
match *a, b:\n case _: pass
match(a)
match = 1; case = 2; type = 3; print = 4
match[a]
match.a = 1
print(a, file=b)
print
print(a) % b
print (a), b
exec(a, b)
exec = 1
type(a).b = c
type(a)
type[a]
type: int = 3
x = type
if a:\n  # c\n  b # d\n  # e\n# f\nc
if a:\n  b\n  # e\n\nelse: # f\n  # g\n  c\n  # h
class A:\n\n  def f(self):\n    pass\n\n  # c\n\n  x = 1\n
def f(): # c\n  '''d'''\n  # e
x = (a # c\n  + b)
(a.\nb)
if a:\n    x = (b.\n  c)\n    d
a; b; c;
é = 'é'; ﬁ = 1
x = 'é' + f'é{a}é' + y
x = a if b else lambda: c
x = lambda: a if b else c
x = [lambda: a for a in b]
x = [a for a in b if c or d if e]
x = a or b and not c
x = a @ b // c % d << e >> f
x @= a; x //= b; x **= c; x >>= d; x <<= e; x &= f; x ^= g; x |= h
x = (yield)
x = (yield from a)
x = [(yield)]
x = (a)(b)
x = (a).b
x = (a)[b]
x = 1 .real
x = 1.\ny = 12_0.\nz = ...
x = a[b, c:d, ...]
x = a[lambda: b]
x = a[b:c if d else e]
pass;
"""

_ONE_LINE = [
    line if "r'\\" in line or "rf'" in line else line.replace("\\n", "\n") for line in _LINES.strip().split("\n")
]
VALID = (
    *_ONE_LINE,
    "x = a \\\n  + b",
    'x = """a\nb"""',
    'x = f"""{\na\n}"""',
    "x = 'a' \\\n 'b'",
    "if a:\n\tb\n\tif c:\n\t    d\n\te\n",
    "if a:\n    \tb\n    \tif c:\n    \t  \td\n    \te\n",
    "if a:\n    b\n\x0cc\n",
    "x = 1\r\nif a:\r\n    b\r\nelse:\r\n    '''c\r\nd'''\r\n",
    "x = 1\rif a:\r    b\r",
    "",
    "\n",
    "# only a comment",
)

PYTHON_2 = {
    "print": "print",
    "print a, b": "print(a, b)",
    "print a,": "print(a)",
    "print >>f, a, b": "print(a, b, file=f)",
    "print >>f": "print(file=f)",
    "print 'a %s' % b; print [a, b]": "print('a %s' % b); print([a, b])",
    "if a: print b\nelse: print c": "if a: print(b)\nelse: print(c)",
    "exec code": "exec(code)",
    "exec code in g": "exec(code, g)",
    "exec 'x = %d' % 1 in g, l": "exec('x = %d' % 1, g, l)",
    "exec (a) in b": "exec(a, b)",
    "x = `a + b`, `c`": "x = repr(a + b), repr(c)",
    "a <> b": "a != b",
    "x = 0777, 0777L, 10L, 0xFFL, 0": "x = 0o777, 0o777, 10, 0xFF, 0",
    "x = ur'\\n' + UR'b'": "x = r'\\n' + 'b'",
    "raise E, v": "raise E(v)",
    "raise E, v, tb": "raise E(v, tb)",
    "raise E": "raise E",
    "try: a\nexcept E, e: b": "try: a\nexcept E as e: b",
    "try: a\nexcept (A, B), e: b": "try: a\nexcept (A, B) as e: b",
    "def f(a, (b, c), d=1): pass": "def f(a, b, c, d=1): pass",
    "x = lambda (k, v): k": "x = lambda k, v: k",
    "x = [a for a in 1, 2]": "x = [a for a in (1, 2)]",
    "d.has_key(a); print": "d.has_key(a); print",
}
"""Python 2, and what it means in Python 3."""
