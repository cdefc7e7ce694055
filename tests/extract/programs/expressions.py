# ruff: noqa
# fmt: off
"""Expressions that decide, in every place where an expression can be; walruses; comprehensions; lambdas."""


def boolean():
    x = c() and c() or f(1)
    y = (c() or c()) and (c() or f(x)) or x
    x = not (c() and c())
    x = not c()
    z = f(c() and f(x), y, k=c() or 1)
    return x or y or z


def conditions():
    x = 0
    if c() and (c() or c()) and not c():
        x = 1
    if not (c() or c() and c()):
        x = 2
    if (c() if c() else c()) or c():
        x = 3
    if not (c() if not c() else not c()):
        x = 4
    while (c() and c()) or (not c() and c()):
        x += 1
    if (y := c()) and (x := f(y)):
        return x
    if f(c() or x) and f(1):
        return y
    return x


def conditional():
    x = 1 if c() else 2
    x = f(x) if c() and c() else f(2) if c() else x
    y = (x if c() else f(1)) + (f(2) if c() else x)
    return -(x or y) if c() else [x, y][c() and 0]


def compared():
    x = f(1)
    a = 0 < x < 10
    b = f(1) < f(2) <= f(3) != f(4)
    if 0 <= f(x) < f(2) < 3:
        a = x
    if not 1 < x < f(3):
        b = a
    if 1 < (x or f(2)) < (c() and 5) in [1, f(2)]:
        a = 2
    while 0 < x < 3 and c():
        x += f(1)
    d = x < f(1)
    return a, b, d, f(0) == (1 < f(2) < 3)


def constants():
    x = 1 and c()
    x = 0 or c() or 3
    x = c() and 1
    if c() or 1:
        x = 2
    if c() and 0:
        x = 3
    x = 1 if 0 else c()
    return "a" or x


def collections():
    a = [c() or 1, f(2), *[c() and 3 or 4]]
    b = {c() or 1: f(2), f(3): c() and 1, **({} if c() else {1: 2})}
    d = {c() or 1, f(2), *(a or [1])}
    t = (*(c() and a or b), c() or a)
    s = a[c() and 0 : f(2) or 3 : 1]
    m = a.index(c() or 1) if c() or c() else (a or b).copy()
    g = f(*(a or b), **(({"k": 1}) if c() else {}), k2=c() or c())
    return a, b, d, t, s, m, g


def iterated():
    try:
        for x in c() and [1, 2] or 3:
            f(x)
        for x in f([1]) if c() else ():
            f(x)
    except TypeError:
        x = 0
    x = [y for y in (c() and [1] or [f(2)])]
    return x


def unpacked():
    try:
        return [*(c() or 1), f(2)]
    except TypeError:
        return {**(c() and {} or 1), f(2): 3}


def texts():
    x = f(1)
    y = f"{x}{c() or x!r:>{f(10) if c() else 5}}{f(2)}"
    z = f"{c() and x}" f"{y if c() else x}"
    return y + z


def walrus():
    if (x := f(1)) > 0 and (y := f(x)) or (y := 3):
        x = y
    z = (x := f(x)) + x
    print_ = f((x := 1), x, (x := x + 1), x)
    while (n := f(1)) and c():
        x = n
    d = {(k := f(1)): (k, v := 2), (k := 3): v + k}
    x = (x := x) or (x := 2)
    a = [x := 1, x, (x := f(2)), x]
    a[(i := 0)] = i
    a[(i := f(0))] = (i := 1)
    assert (q := f(1)), (q := 2)
    return (r := c()) and r, z, d, n, q, i


def walrus_in_comprehensions():
    y = 0
    a = [y := x for x in it(3)]
    f(y)
    b = any((z := x) for x in [1, 2] if (w := f(x)))
    return a, b, y, z, w


def comprehensions():
    a = [x for x in it(3)]
    b = {x: f(x) for x in it(3) if c()}
    d = {x + y for x in it(2) if c() or c() if f(x) for y in it(x) if not c()}
    g = [(x, y) for x in a for y in [x, x] if 0 < x < 3]
    h = [[x for x in y] for y in [[1], [f(2)]]]
    return a, b, d, g, h, [c() and x for x in a], {x: 1 if c() else x for x in a}


def targets_of_comprehensions():
    d = {}
    a = [i for i, (j, *k) in [(1, (2, 3, 4)), (5, f((6, 7)))] if j]
    return a, [x for d[c() or 1] in [1, 2] for x in [d]]


def generators():
    g = (x for x in it(3) if c())
    for x in g:
        f(x)
    h = (f(x) or x for x in it(4))
    try:
        next(h)
        h.throw(E1)
    except (E1, E2, StopIteration):
        h.close()
    k = (x for x in [1])
    try:
        k.throw(E2)
    except E2:
        pass
    return sum(x for x in [1, 2])


def constant_elements():
    return [1 for _ in it(2)], {1: 2 for _ in it(2)}, {1 for x in it(2) if x}, [0 for x in [1] for x in [x]]


def lambdas():
    a = lambda x, y=f(1), *z, k=c() or 2: x and y or z
    b = lambda: c() if c() else f(1)
    d = lambda: (w := 1, w)[0]
    e = lambda *a, **k: 1
    s = sorted([3, 1, 2], key=lambda v: -v if c() else v)
    return a(1), b(), d(), e(), s, a(f(0), k=1)


def not_hashable():
    try:
        return {x for x in [[]]}
    except TypeError:
        return {x: 1 for x in [{}]}
