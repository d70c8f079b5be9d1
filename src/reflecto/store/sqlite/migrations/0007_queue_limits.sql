-- What each queue holds, counted in the transaction that changes it: nobody counts rows to learn whether one is full.

ALTER TABLE devices ADD COLUMN queue_entries   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE devices ADD COLUMN queue_bytes     INTEGER NOT NULL DEFAULT 0;
ALTER TABLE devices ADD COLUMN relayed_entries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE devices ADD COLUMN relayed_bytes   INTEGER NOT NULL DEFAULT 0;
UPDATE devices SET (queue_entries, queue_bytes, relayed_entries, relayed_bytes) = (
    SELECT count(*),
           coalesce(sum(length(blob)), 0),
           coalesce(sum(sender <> 'server'), 0),
           coalesce(sum(CASE WHEN sender <> 'server' THEN length(blob) ELSE 0 END), 0)
    FROM queue WHERE device_id = devices.id
);
CREATE INDEX queue_relayed ON queue (device_id, seq) WHERE sender <> 'server';

-- A reminder for which no queue has room is tried again.

ALTER TABLE reminders ADD COLUMN retry_at INTEGER NOT NULL DEFAULT 0;
DROP INDEX reminders_by_time;
CREATE INDEX reminders_due ON reminders (max(fire_at, retry_at));
