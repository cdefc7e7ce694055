"""What looks after tables. Every operation goes through `maintained`, which leaves a row in `maintenance`."""
