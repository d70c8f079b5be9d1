-- Where pushes go, and how urgent they are. An endpoint is a capability: whoever knows it can reach the device.

CREATE TABLE push_subscriptions (
    device_id TEXT PRIMARY KEY REFERENCES devices (id) ON DELETE CASCADE,
    endpoint  TEXT NOT NULL UNIQUE,
    p256dh    BLOB NOT NULL,
    auth      BLOB NOT NULL,
    since_seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

ALTER TABLE queue ADD COLUMN urgency TEXT NOT NULL DEFAULT 'high';
ALTER TABLE queue ADD COLUMN topic TEXT;
