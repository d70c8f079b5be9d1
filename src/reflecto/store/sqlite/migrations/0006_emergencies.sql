-- What devices say they know, the short form of tokens, and emergencies.

ALTER TABLE devices ADD COLUMN features TEXT NOT NULL DEFAULT '';
ALTER TABLE pairings ADD COLUMN features TEXT NOT NULL DEFAULT '';

-- NULL: the token is older, and was not used in full since.
ALTER TABLE tokens ADD COLUMN short_hash BLOB;
CREATE UNIQUE INDEX tokens_by_short_hash ON tokens (short_hash) WHERE short_hash IS NOT NULL;

-- `callback` and the tags' hashes are readable; the message is sealed, once per device.
-- A row whose time has run out is `expired` before `status` says so: expiry is decided by comparison.
CREATE TABLE emergencies (
    receipt           TEXT PRIMARY KEY,
    message_id        TEXT NOT NULL,
    owner_id          TEXT NOT NULL REFERENCES owners (id) ON DELETE CASCADE,
    token_id          TEXT NOT NULL,
    token_label       TEXT NOT NULL,
    retry_seconds     INTEGER NOT NULL,
    created_at        INTEGER NOT NULL,
    expires_at        INTEGER NOT NULL,
    callback          TEXT,
    status            TEXT NOT NULL,
    ended_at          INTEGER,
    device_id         TEXT,
    device_label      TEXT,
    last_delivered_at INTEGER NOT NULL,
    next_round_at     INTEGER,
    next_call_at      INTEGER,
    calls             INTEGER NOT NULL DEFAULT 0,
    called_back_at    INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX emergencies_by_round ON emergencies (next_round_at) WHERE next_round_at IS NOT NULL;
CREATE INDEX emergencies_by_call ON emergencies (next_call_at) WHERE next_call_at IS NOT NULL;
CREATE INDEX emergencies_by_owner ON emergencies (owner_id);
CREATE INDEX emergencies_by_creation ON emergencies (created_at);

CREATE TABLE emergency_tags (
    receipt TEXT NOT NULL REFERENCES emergencies (receipt) ON DELETE CASCADE,
    hash    BLOB NOT NULL,
    PRIMARY KEY (hash, receipt)
) STRICT, WITHOUT ROWID;
CREATE INDEX emergency_tags_by_receipt ON emergency_tags (receipt);

CREATE TABLE emergency_deliveries (
    receipt   TEXT NOT NULL REFERENCES emergencies (receipt) ON DELETE CASCADE,
    device_id TEXT NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    blob      BLOB NOT NULL,
    PRIMARY KEY (receipt, device_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX emergency_deliveries_by_device ON emergency_deliveries (device_id);
