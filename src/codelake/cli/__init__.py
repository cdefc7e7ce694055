"""The command line."""

import gc

# Modules are loaded and stay: looked through at every 700 new objects, which is what Python does, a question from a
# shell takes a twentieth longer. Commands that work for long are still looked through.
gc.set_threshold(50_000, 20, 20)
