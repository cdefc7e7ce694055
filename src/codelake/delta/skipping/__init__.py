"""Which files of a table a filter can touch, by the rules of Delta on Spark and without Spark."""
