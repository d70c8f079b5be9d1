-- A code made by a phone ends with it: a stolen phone, once removed, must have none to come back with.

ALTER TABLE setup_codes ADD COLUMN phone_id TEXT REFERENCES devices (id) ON DELETE CASCADE;
CREATE INDEX setup_codes_by_phone ON setup_codes (phone_id);
