"""Other tools on a lake. Each file is one, and needs the extra of its name: `pip install codelake[ibis]`."""
