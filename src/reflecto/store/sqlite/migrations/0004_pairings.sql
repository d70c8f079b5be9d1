-- Invitations for further devices, at most ten minutes from one step to the end. What is proved stays opaque here.

CREATE TABLE pairings (
    id                 TEXT PRIMARY KEY,
    owner_id           TEXT NOT NULL REFERENCES owners (id) ON DELETE CASCADE,
    phone_id           TEXT NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    expires_at         INTEGER NOT NULL,
    status             TEXT NOT NULL,
    token_hash         BLOB,
    device_id          TEXT,
    public_key         BLOB,
    signing_key        BLOB,
    label              TEXT,
    type               TEXT,
    class              TEXT,
    app_build          INTEGER,
    proof              BLOB,
    commitment         BLOB,
    phone_nonce        BLOB,
    device_nonce       BLOB,
    approval           TEXT,
    approval_proof     BLOB,
    approval_signature BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX pairings_by_owner ON pairings (owner_id);
CREATE INDEX pairings_by_phone ON pairings (phone_id);
CREATE INDEX pairings_by_device ON pairings (device_id);
CREATE INDEX pairings_by_expiry ON pairings (expires_at);
