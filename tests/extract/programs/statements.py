# ruff: noqa
# fmt: off
"""If, while, for, break, continue, assignments, deletions. Run in a `World`: c() decides, f() may raise."""


def if_elif_else():
    x = 0
    if c():
        x = 1
    elif c():
        x = 2
    elif not c():
        pass
    else:
        x = 3
    if c():
        x = f(x)
    return x


def constants():
    x = 1
    if 0:
        x = 2
    if True:
        x = f(x)
    else:
        x = 3
    while 1:
        x = x + 1
        if c() or done():
            break
    while False:
        x = 5
    else:
        f(x)
    if None:
        return x
    return x


def while_else():
    n = 0
    while c():
        n += 1
        if c():
            continue
        if c():
            break
        n = f(n)
    else:
        n = -1
    return n


def for_else():
    x = y = None
    for x in it(3):
        if c():
            continue
        for y in it(x):
            if c():
                break
        else:
            continue
        break
    else:
        x = f(y)
    return x, y


def for_x_in_x():
    x = it(2)
    for x in x:
        f(x)
    return x


def targets():
    a = b = [1, 2, 3]
    a[0], b, *rest = f((1, [2], 3, 4))
    (a, [b, c_]), d = (1, [2, 3]), 4
    i, a = 0, [5, 6]
    i, a[i] = 1, 2
    for i, a[i] in [(0, 1), (1, 2)]:
        f(a)
    del a[0], rest
    a, b = b, a
    x = x2 = f(a)
    x, x = 1, 2
    return a, b, c_, d, x, x2


def unpacking_fails():
    x = y = 1
    try:
        x, y = f([1]), f(2)
        x, y = [1]
    except (ValueError, E1):
        return x, y
    return y


def augmented():
    x, o, d = 1, thing(), {"a": 1}
    x += f(1)
    x += x
    o.a += f(2)
    d["a"] -= f(1)
    d[f("a")] = d["a"] + x
    x -= c() and x or 2
    d["a" if c() else "b"] = 1
    d["a" if c() else "a"] += c() or x
    o.b += o.a if c() else f(1)
    x += (x := 3)
    return x, o, d


def deleted():
    x = 1
    if c():
        del x
    try:
        x += 1
    except NameError:
        x = 2
    y = x
    del x, y
    x: int
    try:
        return x
    except UnboundLocalError:
        x: int = f(1)
    return x


def annotated():
    x: f(1) = f(2)
    o = thing()
    o.a: f(3) = 3
    o.a: f(4)
    (y): int = x
    z: (int if c() else str) = y if c() else x
    return z


def asserted():
    x = 1
    assert c(), f(x)
    assert f(x)
    try:
        assert c() and c(), "a" if c() else f("b")
        assert not c()
        x = 2
    except AssertionError as e:
        x = e
    assert 1
    return x


def asserted_false():
    x = 1
    try:
        assert 0, f(x)
    except AssertionError:
        x = 2
    return x


def raised():
    x = 1
    try:
        if c():
            raise E1
        if c():
            raise E2(x) from (E1() if c() else None)
        x = 2
        raise
    except (E1, E2) as e:
        x = e
    except RuntimeError:
        f(x)
    return x


def unreachable():
    x = 1
    while c():
        continue
        x = 2
    for x in it(1):
        break
        f(x)
    return x
    x = 3
    if x:
        return x


def imported():
    import os.path
    import os, sys as s
    from collections import OrderedDict as o, abc

    if c():
        import os.path as os
    try:
        import nothing_of_this_name
        from os import nothing_of_this_name as n
    except ImportError:
        n = os
    return os, s, o, abc, n


def global_names():
    global g1
    g1 = f(1)
    if c():
        del g1
        g1 = 2
    return g1


def empty():
    pass


def documented():
    """Nothing but a text."""


if c():
    top = 1
else:
    top = f(2)
for each in it(2):
    top += each
try:
    top = f(top)
    del each
except (E1, E2, NameError) as error:
    each = error
finally:
    last = top
with cm() as managed:
    top = f(managed)
