"""Whole files to rows of the graph's tables, in plain Python over Arrow. Nothing here knows Spark."""
