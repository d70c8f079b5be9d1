"""Getting what is queued to the devices: open streams, later web push."""
