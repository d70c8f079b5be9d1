"""What one process keeps in memory of what several would share."""
