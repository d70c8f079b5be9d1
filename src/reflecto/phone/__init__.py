"""A phone in the terminal: pure rules (`inbox`, `focus`, `text`), thin shells around them, one state file."""
