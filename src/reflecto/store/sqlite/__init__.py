"""The store in one SQLite file: WAL, one writer with group commit, reads on the event loop."""
