"""The linker: what names, attributes and calls mean across files. Arrow in, Arrow out; the one place under `graph`
where Python runs.

    linking     a unit while it is linked; `call`, what it passes on of a call
    program     the flow facts of a link unit, with one number a slot; `nested`, the columns that they are read from
    modules     which file a module is, what an import means, what a star brings
    hierarchy   bases and method resolution orders
    values      what a slot can hold: functions, classes, modules, instances, containers, external names
    solver      the least fixed point: values along copies, and who waits for them
    attributes  what an attribute of a value is; `stores`, what comes of storing to one
    binding     what a call does with its arguments and its result
    making      what the statement of a class does
    protocols   what Python calls by itself; `operators`, those of operators and comparisons
    external    what a call of something external gives
    stubs       what typeshed says of names; `signatures`, its texts, read
    outside     attributes of what stubs know; `filling`, their types as values; `stub_calls`, calls of it
    known       what builtins and the standard library do with what they are given; `containers`, their methods
    spelled     attributes by names that are put together; `evaluated`, constant texts that are code
    types       what annotations say
    narrowing   what tests say
    shapes      what something is of which only its attributes are known
    constraints the facts of a unit as what the solver is asked for
    targets     from values to ids, and how sure; `reasons`, why there is none
    found       what comes out: `call_edges`, `name_edges`, `class_edges`, `type_edges`; `results`, as rows
    kernel      all of it, for one unit; `kept`, for one that is edited
"""
