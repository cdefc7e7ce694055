"""HOW tables are stored: the only package that knows Delta. docs/architecture.md says which file does what."""
