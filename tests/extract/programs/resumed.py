# ruff: noqa
# fmt: off
"""Generators and coroutines: resumed, thrown into, closed."""


def simple():
    x = yield 1
    y = yield f(x)
    if c():
        yield
    return y


def in_loop():
    x = 0
    for x in it(5):
        try:
            x = yield x
            if c():
                continue
        except E1:
            if c():
                break
        except GeneratorExit:
            f(x)
            raise
        finally:
            x = f(x)
    yield x


def delegating():
    x = yield from simple()
    try:
        x = yield from in_loop()
        for y in delegated(x):
            yield y or x
    finally:
        f(x)
    yield (yield x) and (yield 2) or 3


def delegated(x):
    with cm() as y:
        yield x
        yield y
        x = yield
    return x


def expression():
    x = [(yield 1), (yield 2) or (yield 3)]
    f((yield x) if c() else (yield))
    return lambda: (yield)


def never():
    return
    yield


async def awaiting():
    x = await aw(1)
    if await aw(c()):
        x = await aw(x) or await aw(2)
    y = [await aw(i) for i in it(3) if await aw(c())]
    return await aw(x) if c() else f(y)


async def async_for():
    x = None
    async for x in ait(4):
        if c():
            continue
        if c():
            break
        async for y in ait(x or 1):
            if await aw(c()):
                return y
            f(y)
        else:
            f(x)
    else:
        x = f(1)
    return x


async def async_with():
    x = None
    for i in it(3):
        async with acm() as x, acm(x) as y:
            if c():
                break
            if c():
                continue
            if c():
                return await aw(y)
            x = f(y)
        f(x)
    async with acm() if c() else acm(2):
        raise E1
    return x


async def async_try():
    x = 0
    try:
        x = await aw(1)
        async with acm():
            x = await aw(f(2))
    except E1 as e:
        x = await aw(e)
    except Stop2:
        raise
    finally:
        await aw(x)
    return x


async def async_generator():
    for i in it(3):
        try:
            x = yield i
            await aw(x)
        except E1:
            yield f(1)
        finally:
            await aw(i)


async def async_comprehensions():
    a = [x async for x in ait(3)]
    b = {x: y async for x in ait(2) if c() for y in it(2) if await aw(c())}
    g = (x or await aw(1) async for x in async_generator())
    async for z in g:
        if c():
            break
        a.append(z)
    return a, b, {x async for x in ait(2) if c() and c()}


async def uses_generator():
    g = async_generator()
    try:
        async for x in g:
            await aw(x)
            if c():
                await g.athrow(E1)
    except (E1, StopAsyncIteration) as e:
        x = e
    finally:
        await g.aclose()
    return x
