-- Times are Unix seconds. Blobs are ciphertext, hashes or public keys; labels are the only plaintext.

CREATE TABLE installation (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE owners (
    id         TEXT PRIMARY KEY,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE setup_codes (
    hash         BLOB PRIMARY KEY,
    owner_id     TEXT REFERENCES owners (id) ON DELETE CASCADE,
    founds_owner INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE devices (
    id           TEXT PRIMARY KEY,
    owner_id     TEXT NOT NULL REFERENCES owners (id) ON DELETE CASCADE,
    token_hash   BLOB NOT NULL UNIQUE,
    public_key   BLOB NOT NULL,
    signing_key  BLOB NOT NULL,
    label        TEXT NOT NULL,
    type         TEXT NOT NULL,
    class        TEXT NOT NULL,
    app_build    INTEGER,
    created_at   INTEGER NOT NULL,
    last_seen_at INTEGER,
    last_seq     INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX devices_by_owner ON devices (owner_id);

CREATE TABLE tokens (
    id           TEXT PRIMARY KEY,
    owner_id     TEXT NOT NULL REFERENCES owners (id) ON DELETE CASCADE,
    hash         BLOB NOT NULL UNIQUE,
    label        TEXT NOT NULL,
    test         INTEGER NOT NULL,
    priority_cap TEXT,
    scopes       TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at   INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_by_owner ON tokens (owner_id);

CREATE TABLE interactions (
    id             TEXT PRIMARY KEY,
    owner_id       TEXT NOT NULL REFERENCES owners (id) ON DELETE CASCADE,
    token_id       TEXT NOT NULL,
    test           INTEGER NOT NULL,
    repeat_mark    BLOB NOT NULL,
    content_mark   BLOB NOT NULL,
    sealed         BLOB NOT NULL,
    choice_count   INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    expires_at     INTEGER NOT NULL,
    status         TEXT NOT NULL,
    ended_at       INTEGER,
    choice_index   INTEGER,
    answered_at    INTEGER,
    device_id      TEXT,
    device_label   TEXT,
    signing_key    BLOB,
    signature      BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX interactions_by_mark ON interactions (token_id, repeat_mark, expires_at);
CREATE INDEX interactions_pending ON interactions (owner_id, test, expires_at) WHERE status = 'pending';
CREATE INDEX interactions_by_end ON interactions (coalesce(ended_at, expires_at));

CREATE TABLE queue (
    device_id  TEXT NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    seq        INTEGER NOT NULL,
    sender     TEXT NOT NULL,
    blob       BLOB NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (device_id, seq)
) STRICT;
CREATE INDEX queue_by_expiry ON queue (expires_at);
