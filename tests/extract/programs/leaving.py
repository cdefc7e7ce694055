# ruff: noqa
# fmt: off
"""Try, with, finally, and what leaves them."""


def try_except():
    x = 0
    try:
        x = 1
        x = f(x)
        x = f(2)
    except E1:
        x = f(x)
    except (E2, ValueError) as e:
        x = e
    else:
        x = f(x)
    return x


def try_bare():
    x = 0
    try:
        x = f(1)
        if c():
            raise Stop2
    except E1:
        pass
    except:
        x = 2
    return x


def rebound():
    e = 0
    try:
        f(1)
        e = 1
        f(2)
    except E1 as e:
        f(e)
        if c():
            e = 2
            f(e)
    except E2 as e:
        if c():
            del e
        if c():
            return 1
    try:
        return e
    except NameError:
        return None


def handlers_in_loops():
    e = x = None
    for i in it(4):
        try:
            x = f(i)
        except E1 as e:
            if c():
                continue
            if c():
                break
            x = e
        except E2:
            f(x)
        finally:
            f(e if i else x)
    else:
        x = 1
    return x


def handler_types():
    try:
        f(1)
    except f(E1):
        x = 1
    except (E1 if c() else E2):
        x = 2
    except c() and E1 or E2:
        x = 3
    else:
        x = 4
    return x


def finally_all_ways():
    x = 0
    for i in it(4):
        try:
            x = i
            if c():
                continue
            if c():
                break
            if c():
                return f(x)
            x = f(x)
        finally:
            x = (x, f(1)) if c() else x
            f(x)
        f(x)
    return x


def finally_with_branch():
    x = 0
    try:
        x = f(1)
        if c():
            return
    except E1:
        x = 2
        if c():
            return f(x)
    finally:
        if c():
            x = f(x)
    return x


def finally_overrides():
    for i in it(3):
        try:
            if c():
                return f(1)
            f(2)
        finally:
            if c():
                continue
            if c():
                break
            if c():
                return 2
    return i


def finally_always_returns():
    try:
        return f(1)
    finally:
        return 2


def finally_in_finally():
    x = 0
    try:
        try:
            x = f(1)
            if c():
                return x
        finally:
            try:
                x = f(2)
            finally:
                x = f(x)
    finally:
        try:
            f(x)
        except E1:
            x = 5
            if c():
                return x
        else:
            f(x)
    return x


def finally_in_loops():
    while not done():
        try:
            for i in it(3):
                try:
                    if c():
                        break
                    if c():
                        return i
                    if c():
                        continue
                finally:
                    f(i)
            else:
                continue
            if c():
                break
        finally:
            f(1)
        f(2)
    else:
        f(3)


def only_passes():
    try:
        pass
    finally:
        pass
    try:
        f(1)
    except E1:
        pass
    finally:
        pass
    try:
        f(1)
    except E2:
        pass


def return_constant():
    try:
        if c():
            return 1
        if c():
            return
        return None if c() else 3
    finally:
        f(1)


def with_one():
    x = 0
    with cm() as x:
        x = f(x)
        f(x)
    return x


def with_many():
    a = b = None
    with cm() as a, cm(a) as b, cm():
        f(b)
        if c():
            return a
        a = f(b)
    with (cm() as (a, b), cm(b)):
        b = f(a)
    return a, b


def with_targets():
    d = {}
    with cm(1) as d["a"], cm(2) as d[c() and "b"]:
        f(1)
    with cm((1, 2)) as (x, *y):
        f(x)
    return x, y, d


def with_choice():
    with cm() if c() else cm(2) as x:
        f(x)
    with c() and cm() or cm(1) as x:
        f(x)
    with cm(c() or 3) as x:
        f(x)
    return x


def with_in_loops():
    x = None
    for i in it(5):
        with cm() as x:
            if c():
                break
            if c():
                continue
            with cm(i):
                if c():
                    break
                if c():
                    return x
                if c():
                    continue
                x = f(i)
            f(x)
        f(x)
    else:
        f(x)
    return x


def with_and_finally():
    x = 0
    for i in it(3):
        try:
            with cm():
                try:
                    if c():
                        return x
                    if c():
                        break
                    x = f(i)
                finally:
                    if c():
                        x = f(x)
        except E1 as e:
            x = e
        finally:
            with cm() as y:
                f(y)
    return x


def with_swallows():
    with cm():
        raise E1
    with cm():
        x = f(1)
        return x
    return 3


def try_star():
    x = 0
    try:
        x = f(1)
        if c():
            raise ExceptionGroup("g", [E1(), E2()])
        if c():
            raise ExceptionGroup("g", [E1(), ExceptionGroup("h", [ValueError()])])
    except* E1 as e:
        x = f(e)
        if c():
            raise
    except* (E2, KeyError):
        x = f(x)
    except* f(ValueError) as e:
        x = e
        if c():
            raise E2 from None
    else:
        x = f(x)
    return x


def try_star_finally():
    x = 0
    for i in it(3):
        try:
            try:
                x = f(i)
            except* E1:
                x = 1
            finally:
                x = f(x)
        except (E1, E2, ExceptionGroup) as e:
            x = e
    return x


def in_a_handler():
    x = 0
    try:
        f(1)
    except E1:
        try:
            x = f(2)
        except E1 as e:
            x = e
            raise
        finally:
            f(x)
    except E2 as e:
        with cm() as y:
            raise E1 from e
        x = y
    return x


def infinite():
    try:
        while True:
            f(1)
            if done():
                break
            try:
                if c():
                    return
            finally:
                f(2)
    except E1:
        return
    finally:
        f(3)
