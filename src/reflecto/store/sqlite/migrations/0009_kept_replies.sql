-- First replies to requests under an Idempotency-Key. `mark` is made of the caller's secret and that key, and so is the
-- key under which the reply is sealed: neither can be read here.

CREATE TABLE kept_replies (
    mark       BLOB PRIMARY KEY,
    owner_id   TEXT NOT NULL REFERENCES owners (id) ON DELETE CASCADE,
    sealed     BLOB NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX kept_replies_by_owner ON kept_replies (owner_id);
CREATE INDEX kept_replies_by_expiry ON kept_replies (expires_at);
