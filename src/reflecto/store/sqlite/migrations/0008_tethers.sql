-- A tethered question ends `tether` seconds after somebody last waited for it. Why one was cancelled, as far as known.

ALTER TABLE interactions ADD COLUMN tether INTEGER;
ALTER TABLE interactions ADD COLUMN awaited_until REAL;
ALTER TABLE interactions ADD COLUMN reason TEXT;
CREATE INDEX interactions_tethered ON interactions (awaited_until + tether)
    WHERE status = 'pending' AND tether IS NOT NULL;
