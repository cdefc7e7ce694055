"""Control flow of each scope (`statements`, and what it is built on), and what reaches a use (`reaching`)."""
