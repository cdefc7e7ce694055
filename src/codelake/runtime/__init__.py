"""What a session needs from the machine: a Java, Delta's two jars, and an archive of loaded classes."""
