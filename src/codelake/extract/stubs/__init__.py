"""What stubs say of the standard library: typeshed, brought to a few texts a module.

typeshed   the stubs that are installed, their version, and all of them read
scope      what a name means in a stub: which module's, or a type variable
texts      annotations and signatures as texts
names      what one module offers: functions, classes, what those have, variables, aliases
public     by which name the documentation calls what a private module defines
"""
