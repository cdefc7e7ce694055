"""A process that is asked nothing and works on for ever: see tests/test_pipes.py."""

from __future__ import annotations

import os

from codelake.pipes import ends, say

if __name__ == "__main__":
    _, answers = ends()
    say(answers, -os.getpid())
    while True:
        pass
