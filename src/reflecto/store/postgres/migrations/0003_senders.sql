-- Senders have a colour, in order of their making, and can be muted.

ALTER TABLE tokens ADD COLUMN colour text NOT NULL DEFAULT 'teal', ADD COLUMN muted_until bigint;
UPDATE tokens SET colour = (ARRAY['teal', 'violet', 'amber', 'blue', 'rose', 'olive', 'slate', 'brick'])[1 + place % 8]
FROM (SELECT id, row_number() OVER (PARTITION BY owner_id ORDER BY created_at, id) - 1 AS place FROM tokens) AS made
WHERE made.id = tokens.id;

-- A missed question stays in the queues, behind it that it expired; from `push_until` on nothing is pushed of it.

ALTER TABLE queue ADD COLUMN question_id text, ADD COLUMN push_until bigint;

-- When an owner was last told that there was no place for a question of the sender.

ALTER TABLE tokens ADD COLUMN refused_at bigint;
