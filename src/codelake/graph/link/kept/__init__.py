"""A unit that stays linked while its files are edited: what an edit changes is worked out, the rest stands.

unit        linked once, then told of files with other contents
program     the flow facts of a unit in which files can be replaced
patching    which numbers of a file's new content are those of the old one
live        the solver that can be taken up again; `nodes`, what it keeps
looked_up   what rules look up by name and do not wait for: where that changes, the unit is linked anew
serve       a process that keeps a unit
"""
