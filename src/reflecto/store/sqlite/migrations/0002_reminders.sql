-- Reminders wait sealed: once for their asker, and per device in the two forms they may be sent in.

CREATE TABLE reminders (
    id         TEXT PRIMARY KEY,
    owner_id   TEXT NOT NULL REFERENCES owners (id) ON DELETE CASCADE,
    token_id   TEXT NOT NULL,
    sealed     BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    fire_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX reminders_by_time ON reminders (fire_at);
CREATE INDEX reminders_by_token ON reminders (token_id, fire_at);
CREATE INDEX reminders_by_owner ON reminders (owner_id);

CREATE TABLE reminder_deliveries (
    reminder_id TEXT NOT NULL REFERENCES reminders (id) ON DELETE CASCADE,
    device_id   TEXT NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    on_time     BLOB NOT NULL,
    late        BLOB NOT NULL,
    PRIMARY KEY (reminder_id, device_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX reminder_deliveries_by_device ON reminder_deliveries (device_id);

CREATE TABLE monthly_counts (
    token_id TEXT PRIMARY KEY REFERENCES tokens (id) ON DELETE CASCADE,
    month    TEXT NOT NULL,
    count    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
