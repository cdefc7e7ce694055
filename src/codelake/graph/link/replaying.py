"""What a function returns that is made of its parameters, made again for each call, of what that call gives. Otherwise
every call would be given what comes of all of them."""

from __future__ import annotations

from collections.abc import Callable

from codelake.graph.link.attributes import load
from codelake.graph.link.call import Call
from codelake.graph.link.linking import Linking
from codelake.graph.link.operators import operate


def replay(link: Linking, call: Call, slot: int, result: int, at_site: Callable[[int], int], function: int) -> None:
    """Make what a slot holds again, of what a call gives, into another slot. `function` is the value that is called."""
    made = link.made[slot]

    def again(one: int) -> int:
        given = at_site(one)
        if given == one and one in link.made:
            given = link.solver.named("again", result, one)
            replay(link, call, one, given, at_site, function)
        return given

    of, others = again(made.of), [again(one) for one in made.others]
    if made.kind == "call":
        through = (*call.through, function)
        link.make_call(Call(-1, of, result, positional=others, through=through))
    elif made.kind == "operate":
        link.waits(of, operate, -1, made.key, others[0] if others else -1, "", result)
    else:
        link.waits(of, load, made.key, result)
