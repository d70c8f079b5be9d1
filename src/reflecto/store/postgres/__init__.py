"""`core.ports` on PostgreSQL, for a server of several processes. docs/scale.md says what each rule is for."""
