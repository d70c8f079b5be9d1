-- Senders have a colour, in order of their making, and can be muted.

ALTER TABLE tokens ADD COLUMN colour TEXT NOT NULL DEFAULT 'teal';
ALTER TABLE tokens ADD COLUMN muted_until INTEGER;
UPDATE tokens SET colour = CASE (
    SELECT count(*) FROM tokens AS older
    WHERE older.owner_id = tokens.owner_id AND (older.created_at, older.id) < (tokens.created_at, tokens.id)
) % 8
    WHEN 0 THEN 'teal' WHEN 1 THEN 'violet' WHEN 2 THEN 'amber' WHEN 3 THEN 'blue'
    WHEN 4 THEN 'rose' WHEN 5 THEN 'olive' WHEN 6 THEN 'slate' ELSE 'brick'
END;

-- A missed question stays in the queues, behind it that it expired; from `push_until` on nothing is pushed of it.

ALTER TABLE queue ADD COLUMN question_id TEXT;
ALTER TABLE queue ADD COLUMN push_until INTEGER;
CREATE INDEX queue_of_questions ON queue (device_id, question_id) WHERE question_id IS NOT NULL;
CREATE INDEX interactions_expiring ON interactions (expires_at) WHERE status = 'pending';

-- When an owner was last told that there was no place for a question of the sender.

ALTER TABLE tokens ADD COLUMN refused_at INTEGER;
