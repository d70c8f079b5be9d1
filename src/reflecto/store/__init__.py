"""Implementations of `core.ports.Store`, one package each."""
