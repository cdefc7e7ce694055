"""Questions to a lake, answered in this process by deltalake's engine: no Spark, no JVM. docs/architecture.md says
which file does what."""
