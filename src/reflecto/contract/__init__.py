"""What both ends of the wire agree on: models, ids, limits and errors. No I/O, nothing above it imported."""
