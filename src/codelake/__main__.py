"""`python -m codelake`: where the command is not on the path."""

from codelake.cli.main import main

if __name__ == "__main__":
    main()
