"""Waking the open streams and long polls of this process."""
