"""Facts to nodes and edges."""
