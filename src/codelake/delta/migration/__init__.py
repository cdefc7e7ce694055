"""Parquet datasets into Delta tables: `source` says what there is, `columns` in which shape, `load` does it."""
