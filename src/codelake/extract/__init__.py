"""Source files to evidence: bytes to rows, plain Python and Arrow. Only `run` knows Spark."""
