"""Envelopes, signed answers and token secrets: pure functions on libsodium and OpenSSL, tested on shared vectors."""
