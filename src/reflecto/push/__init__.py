"""Getting what is queued to the devices: open streams, and Web Push to those that have none."""
