"""One file per question: its texts, what they are filled with, and the rows that come of it."""

from codelake.query.questions.calls import callees, callers
from codelake.query.questions.diff import diff
from codelake.query.questions.find import find
from codelake.query.questions.hot import hot
from codelake.query.questions.impact import impact
from codelake.query.questions.neighbors import neighbors
from codelake.query.questions.path import path
from codelake.query.questions.refs import refs
from codelake.query.questions.show import show
from codelake.query.questions.unresolved import unresolved

QUESTIONS = (find, callers, callees, refs, impact, neighbors, show, path, unresolved, hot, diff)

__all__ = [
    "QUESTIONS",
    "callees",
    "callers",
    "diff",
    "find",
    "hot",
    "impact",
    "neighbors",
    "path",
    "refs",
    "show",
    "unresolved",
]
