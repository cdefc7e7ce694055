# ruff: noqa
# fmt: off
"""Match: every kind of pattern, guards, captures."""


def subject():
    return pick(
        1, "a", None, True, [], [1], [1, 2, 3], (1, (2, 3)), {}, {"a": 1}, {"a": 1, "b": 2}, thing(a=1), thing(a=2, b=3), 1.5
    )


def values():
    x = subject()
    match x:
        case 1 | 2:
            y = f(1)
        case "a" | None:
            y = 2
        case True if c():
            y = 3
        case consts.one | consts.half:
            y = x
        case -1 | 1 + 2j:
            y = 4
        case _ if c() and c():
            y = 5
        case _:
            y = 6
    return y


def captures():
    x = y = rest = None
    match subject():
        case []:
            pass
        case [x]:
            f(x)
        case [x, (y, z)] if f(z):
            x = z
        case [x, *rest] if c():
            f(rest)
        case [1 as x, *_, 3 as y]:
            return x, y
        case {"a": x, "b": y}:
            f(x)
        case {"a": 1 as x, **rest}:
            f(rest)
        case {**rest} if c():
            x = rest
        case Thing(a=1) as x:
            f(x)
        case Thing(a=x, b=y) | [x, y]:
            f(y)
        case (int() | float()) as x if c():
            y = x
        case str(x):
            f(x)
        case y:
            f(y)
    return x, y, rest


def without_match():
    x = 0
    match f(1), f(2):
        case x, 3:
            return x
        case 1, x:
            f(x)
    return x


def of_choice():
    match c() or subject():
        case True:
            return 1
        case Thing(a=a) | {"a": a} if a and c():
            return a
        case [a, *_] | (a):
            return a if c() else f(a)


def in_loops():
    for i in it(4):
        match subject():
            case [i, *_]:
                continue
            case {"a": i}:
                break
            case Thing():
                try:
                    return f(i)
                finally:
                    f(2)
            case i if f(i):
                pass
        f(i)
    else:
        i = 1
    return i


def raising():
    x = 0
    try:
        match thing(a=1):
            case Bad(x):
                f(x)
            case Thing(a=x) if f(x):
                raise E1
            case Thing(a=x, missing=_):
                pass
    except TypeError as x:
        f(x)
    except (E1, E2):
        return x


def always():
    match f(1):
        case 1 | _:
            x = 1
    match f(2):
        case (2 | _) as y:
            x = y
    match f(3):
        case z:
            pass
    return x, y, z
