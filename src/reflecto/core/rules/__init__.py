"""Rules without I/O: facts, a request and the time go in, an outcome comes out. Stores call them in a transaction."""
