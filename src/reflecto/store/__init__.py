"""Implementations of `core.ports.store.Store`, one package each."""
