# ruff: noqa
# fmt: off
"""Functions, classes, closures: what is evaluated where."""


def definitions():
    x = f(1)

    def g(a, b=x, *c_, d: x = f(2), **k) -> f(3):
        return a, b, c_, d, k

    @f
    def h(x=x):
        x = x + 1 if c() else x
        return x

    @(deco if c() else f)
    @deco
    def i(x, y=c() or 1, *, z=c() and x, w: c() or int = 2) -> (c() or None):
        return x, y, z, w

    x = g(1)
    return x, h(), i(1)


def redefined():
    if c():

        def g():
            return 1

    else:

        class g:
            x = 1

    return g()


def classes():
    x = f(1)

    @deco
    class A(object if c() else Exception, metaclass=c() and type or type):
        y = x
        if c():
            y = f(y)
        for i in it(2):
            y = i
        else:
            y = y
        try:
            z = f(y)
            y = i
        except E1 as e:
            z = e
        finally:
            w = z if c() else y
        x = x

        def method(self, y=y):
            return y

        __private = 1
        other = __private
        del w
        n: int = f(3)
        m: str

    class B(A, f(object)): ...

    return A().method(), B, x


def refuses():
    class Refusing(type):
        def __prepare__(name, bases):
            return refusing()

    try:

        class A(metaclass=Refusing):
            x = 1
            x = 2
    except E1:
        return 1
    return 2


def closures():
    x = f(1)

    def g():
        nonlocal x
        x = f(x)
        return x

    g()
    y = x
    x = 2
    h = lambda: x + y
    if c():
        del y
        y = 3
    return h() + x + y


def recursive(n=3):
    if n <= 0:
        return f(n)
    return recursive(n - 1) if c() else recursive(n - 2)


def parameters(a=1, /, b=2, *args, d=3, **kw):
    a = a + b
    if c():
        b = a
    del d
    args = args or kw
    return a, b, args, kw


def star_arguments():
    return parameters(1, 2, 3, d=4, e=5), parameters(*[1], **{"b": 2})
