-- The sweep looks for an owner's oldest kept replies.

DROP INDEX kept_replies_by_owner;
CREATE INDEX kept_replies_by_owner ON kept_replies (owner_id, expires_at);
