"""The linker: what names, attributes and calls mean across files. Arrow in, Arrow out; the one place under `graph`
where Python runs.

    program     the flow facts of a link unit, with one number a slot
    modules     which file a module is, what an import means, what a star brings
    hierarchy   bases and method resolution orders
    values      what a slot can hold: functions, classes, modules, instances, containers, external names
    solver      the least fixed point: values along copies, and who waits for them
    attributes  what an attribute of a value is
    binding     what a call does with its arguments and its result
    known       what builtins and the standard library do with what they are given
    types       what annotations say
    results     edges, call sites and classes from the solution
    kernel      all of it, for one unit
"""
