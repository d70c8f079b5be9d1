"""Web Push: what is queued for a device that has no stream, or does not acknowledge in time."""
