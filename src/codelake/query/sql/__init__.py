"""SQL that comes from outside: parsed in a dialect that it names, refused unless it is one statement that only reads,
checked against the contracts, and rendered once for the engine. What is not understood here never gets there."""
