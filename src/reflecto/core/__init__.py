"""What Reflecto does, one file per capability: pure rules first, the use case on top. No HTTP and no SQL in here."""
