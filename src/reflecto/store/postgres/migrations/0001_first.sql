-- Times are Unix seconds. Blobs are ciphertext, hashes or public keys; labels are the only plaintext.
-- What changes with every message has room on its pages (fillfactor), so that a new version of a row needs no new index
-- entry, and is cleaned early.

CREATE TABLE installation (
    name  text PRIMARY KEY,
    value text NOT NULL
);

-- Raised when the cluster (system identifier and timeline) is another one than before, and by restore and migrate: what
-- queues had shown may be lost then, and their numbers must not come again. One row.
CREATE TABLE epoch (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    number   integer NOT NULL,
    cluster  text
);

-- One row a connection that writes: raised in each of its transactions, so that a lost reply can be looked up.
CREATE TABLE writers (
    id      text PRIMARY KEY,
    batch   bigint NOT NULL,
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

CREATE TABLE owners (
    id         text PRIMARY KEY,
    created_at bigint NOT NULL
);

CREATE TABLE devices (
    id              text PRIMARY KEY,
    owner_id        text NOT NULL REFERENCES owners (id) ON DELETE CASCADE,
    token_hash      bytea NOT NULL UNIQUE,
    public_key      bytea NOT NULL,
    signing_key     bytea NOT NULL,
    label           text NOT NULL,
    type            text NOT NULL,
    class           text NOT NULL,
    app_build       bigint,
    created_at      bigint NOT NULL,
    last_seen_at    bigint,
    features        text NOT NULL DEFAULT '',
    last_seq        bigint NOT NULL DEFAULT 0,
    queue_entries   bigint NOT NULL DEFAULT 0,
    queue_bytes     bigint NOT NULL DEFAULT 0,
    relayed_entries bigint NOT NULL DEFAULT 0,
    relayed_bytes   bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX devices_by_owner ON devices (owner_id);

CREATE TABLE setup_codes (
    hash         bytea PRIMARY KEY,
    owner_id     text REFERENCES owners (id) ON DELETE CASCADE,
    founds_owner boolean NOT NULL,
    expires_at   bigint NOT NULL,
    phone_id     text REFERENCES devices (id) ON DELETE CASCADE
);
CREATE INDEX setup_codes_by_owner ON setup_codes (owner_id);
CREATE INDEX setup_codes_by_phone ON setup_codes (phone_id);
CREATE INDEX setup_codes_by_expiry ON setup_codes (expires_at);

CREATE TABLE tokens (
    id           text PRIMARY KEY,
    owner_id     text NOT NULL REFERENCES owners (id) ON DELETE CASCADE,
    hash         bytea NOT NULL UNIQUE,
    label        text NOT NULL,
    test         boolean NOT NULL,
    priority_cap text,
    scopes       text NOT NULL,
    created_at   bigint NOT NULL,
    last_used_at bigint,
    revoked_at   bigint,
    short_hash   bytea
) WITH (fillfactor = 80);
CREATE INDEX tokens_by_owner ON tokens (owner_id);
CREATE UNIQUE INDEX tokens_by_short_hash ON tokens (short_hash) WHERE short_hash IS NOT NULL;
CREATE INDEX tokens_revoked ON tokens (revoked_at) WHERE revoked_at IS NOT NULL;

CREATE TABLE interactions (
    id            text PRIMARY KEY,
    owner_id      text NOT NULL REFERENCES owners (id) ON DELETE CASCADE,
    token_id      text NOT NULL,
    test          boolean NOT NULL,
    repeat_mark   bytea NOT NULL,
    content_mark  bytea NOT NULL,
    sealed        bytea NOT NULL,
    choice_count  integer NOT NULL,
    created_at    bigint NOT NULL,
    expires_at    bigint NOT NULL,
    status        text NOT NULL,
    ended_at      bigint,
    choice_index  integer,
    answered_at   bigint,
    device_id     text,
    device_label  text,
    signing_key   bytea,
    signature     bytea,
    tether        integer,
    awaited_until double precision,
    reason        text
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX interactions_by_mark ON interactions (token_id, repeat_mark, expires_at);
CREATE INDEX interactions_pending ON interactions (owner_id, test, expires_at) WHERE status = 'pending';
CREATE INDEX interactions_pending_by_token ON interactions (token_id) WHERE status = 'pending';
CREATE INDEX interactions_pending_by_expiry ON interactions (expires_at) WHERE status = 'pending';
CREATE INDEX interactions_by_end ON interactions ((coalesce(ended_at, expires_at)));
CREATE INDEX interactions_tethered ON interactions ((awaited_until + tether))
    WHERE status = 'pending' AND tether IS NOT NULL;

CREATE TABLE queue (
    device_id  text NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    seq        bigint NOT NULL,
    sender     text NOT NULL,
    blob       bytea NOT NULL,
    expires_at bigint NOT NULL,
    urgency    text NOT NULL,
    topic      text,
    PRIMARY KEY (device_id, seq)
) WITH (autovacuum_vacuum_scale_factor = 0.01);
ALTER TABLE queue ALTER COLUMN blob SET STORAGE EXTERNAL; -- ciphertext does not get smaller
CREATE INDEX queue_by_expiry ON queue (expires_at);
CREATE INDEX queue_relayed ON queue (device_id, seq) WHERE sender <> 'server';

CREATE TABLE push_subscriptions (
    device_id text PRIMARY KEY REFERENCES devices (id) ON DELETE CASCADE,
    endpoint  text NOT NULL UNIQUE,
    p256dh    bytea NOT NULL,
    auth      bytea NOT NULL,
    since_seq bigint NOT NULL, -- nothing up to it is to be pushed any more
    -- The process that pushes to the device, and up to where the queue has come as far as anybody told it. It has to say
    -- every few seconds that it is still there.
    process_id    text,
    claimed_until timestamptz,
    upto_seq      bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX push_subscriptions_claimed ON push_subscriptions (claimed_until) WHERE claimed_until IS NOT NULL;

CREATE TABLE pairings (
    id                 text PRIMARY KEY,
    owner_id           text NOT NULL REFERENCES owners (id) ON DELETE CASCADE,
    phone_id           text NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    expires_at         bigint NOT NULL,
    status             text NOT NULL,
    token_hash         bytea,
    device_id          text,
    public_key         bytea,
    signing_key        bytea,
    label              text,
    type               text,
    class              text,
    app_build          bigint,
    features           text NOT NULL DEFAULT '',
    proof              bytea,
    commitment         bytea,
    phone_nonce        bytea,
    device_nonce       bytea,
    approval           text,
    approval_proof     bytea,
    approval_signature bytea
);
CREATE INDEX pairings_by_owner ON pairings (owner_id);
CREATE INDEX pairings_by_phone ON pairings (phone_id);
CREATE INDEX pairings_by_device ON pairings (device_id);
CREATE INDEX pairings_by_expiry ON pairings (expires_at);

CREATE TABLE reminders (
    id         text PRIMARY KEY,
    owner_id   text NOT NULL REFERENCES owners (id) ON DELETE CASCADE,
    token_id   text NOT NULL,
    sealed     bytea NOT NULL,
    created_at bigint NOT NULL,
    fire_at    bigint NOT NULL,
    retry_at   bigint NOT NULL DEFAULT 0
);
CREATE INDEX reminders_due ON reminders ((greatest(fire_at, retry_at)));
CREATE INDEX reminders_by_token ON reminders (token_id, fire_at);
CREATE INDEX reminders_by_owner ON reminders (owner_id);

CREATE TABLE reminder_deliveries (
    reminder_id text NOT NULL REFERENCES reminders (id) ON DELETE CASCADE,
    device_id   text NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    on_time     bytea NOT NULL,
    late        bytea NOT NULL,
    PRIMARY KEY (reminder_id, device_id)
);
CREATE INDEX reminder_deliveries_by_device ON reminder_deliveries (device_id);

-- `callback` and the tags' hashes are readable; the message is sealed, once per device.
-- A row whose time has run out is `expired` before `status` says so: expiry is decided by comparison.
CREATE TABLE emergencies (
    receipt           text PRIMARY KEY,
    message_id        text NOT NULL,
    owner_id          text NOT NULL REFERENCES owners (id) ON DELETE CASCADE,
    token_id          text NOT NULL,
    token_label       text NOT NULL,
    retry_seconds     bigint NOT NULL,
    created_at        bigint NOT NULL,
    expires_at        bigint NOT NULL,
    callback          text,
    status            text NOT NULL,
    ended_at          bigint,
    device_id         text,
    device_label      text,
    last_delivered_at bigint NOT NULL,
    next_round_at     bigint,
    next_call_at      bigint,
    calls             bigint NOT NULL DEFAULT 0,
    called_back_at    bigint
);
CREATE INDEX emergencies_by_round ON emergencies (next_round_at) WHERE next_round_at IS NOT NULL;
CREATE INDEX emergencies_by_call ON emergencies (next_call_at) WHERE next_call_at IS NOT NULL;
CREATE INDEX emergencies_by_owner ON emergencies (owner_id);
CREATE INDEX emergencies_by_token ON emergencies (token_id);
CREATE INDEX emergencies_by_creation ON emergencies (created_at);

CREATE TABLE emergency_tags (
    receipt text NOT NULL REFERENCES emergencies (receipt) ON DELETE CASCADE,
    hash    bytea NOT NULL,
    PRIMARY KEY (hash, receipt)
);
CREATE INDEX emergency_tags_by_receipt ON emergency_tags (receipt);

CREATE TABLE emergency_deliveries (
    receipt   text NOT NULL REFERENCES emergencies (receipt) ON DELETE CASCADE,
    device_id text NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    blob      bytea NOT NULL,
    PRIMARY KEY (receipt, device_id)
);
CREATE INDEX emergency_deliveries_by_device ON emergency_deliveries (device_id);

-- First replies to requests under an Idempotency-Key. `mark` is made of the caller's secret and that key, and so is the
-- key under which the reply is sealed: neither can be read here.
CREATE TABLE kept_replies (
    mark       bytea PRIMARY KEY,
    owner_id   text NOT NULL REFERENCES owners (id) ON DELETE CASCADE,
    sealed     bytea NOT NULL,
    expires_at bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.01);
ALTER TABLE kept_replies ALTER COLUMN sealed SET STORAGE EXTERNAL; -- ciphertext does not get smaller
CREATE INDEX kept_replies_by_owner ON kept_replies (owner_id, expires_at);
CREATE INDEX kept_replies_by_expiry ON kept_replies (expires_at);

-- Questions of agents over `/mcp` whose results were not handed over yet, or were lost; `process_id` is asking it now.
-- `content_mark` and `repeat_mark` are made with the token, so nothing can be read here.
CREATE TABLE unread_questions (
    key          text PRIMARY KEY,
    token_id     text NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
    content_mark bytea NOT NULL,
    repeat_mark  bytea NOT NULL,
    withdraw_at  double precision NOT NULL,
    process_id   text
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX unread_questions_by_content ON unread_questions (token_id, content_mark);
CREATE INDEX unread_questions_by_end ON unread_questions (withdraw_at);

CREATE TABLE monthly_counts (
    token_id text PRIMARY KEY REFERENCES tokens (id) ON DELETE CASCADE,
    month    text NOT NULL,
    count    bigint NOT NULL
);

-- What follows is empty after a crash of the database or a promotion, and each process says again what is true.

-- What transactions have changed, for the other processes. `xact` tells a reader which rows it cannot have seen yet.
CREATE UNLOGGED TABLE news (
    xact            xid8 NOT NULL DEFAULT pg_current_xact_id(),
    process_id      text NOT NULL,
    at              timestamptz NOT NULL DEFAULT clock_timestamp(),
    device_ids      text[] NOT NULL,
    watched_ids     text[] NOT NULL,
    ended_ids       text[] NOT NULL,
    cancelled_calls text[] NOT NULL
);
CREATE INDEX news_by_xact ON news (xact);
CREATE INDEX news_by_time ON news (at);

-- A process of the server is live until `live_until`, which it raises each second.
CREATE UNLOGGED TABLE processes (
    id         text PRIMARY KEY,
    live_until timestamptz NOT NULL,
    version    text NOT NULL,
    schema     integer NOT NULL,
    address    text NOT NULL
) WITH (fillfactor = 50);

CREATE UNLOGGED TABLE presence (
    device_id  text NOT NULL,
    process_id text NOT NULL REFERENCES processes (id) ON DELETE CASCADE,
    PRIMARY KEY (device_id, process_id)
);
CREATE INDEX presence_by_process ON presence (process_id);

-- Calls of agents' hooks that wait for a tap: those that look the same have different numbers.
CREATE UNLOGGED TABLE call_places (
    token_id    text NOT NULL,
    call_mark   bytea NOT NULL,
    number      integer NOT NULL,
    process_id  text NOT NULL,
    question_id text,
    taken_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (token_id, call_mark, number)
);
CREATE INDEX call_places_by_process ON call_places (process_id);

-- How often something happened in one slot of a window: see `counters.py`. Times are Unix seconds; a slot counts until
-- `live_until`, and is swept after `kept_until`, which the hits of a slot leave as it is.
CREATE UNLOGGED TABLE counts (
    window_name text NOT NULL,
    key         text NOT NULL,
    slot        bigint NOT NULL,
    count       bigint NOT NULL,
    live_until  bigint NOT NULL,
    kept_until  bigint NOT NULL,
    PRIMARY KEY (window_name, key, slot)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX counts_by_end ON counts (kept_until);

-- Counts hits, each in several windows or in none, in the order of `hit_numbers`; returns those that were refused, with
-- the place of the window that was full and when it next frees something. `names` to `kept` have one entry a place: a
-- window and a key. A window of 0 seconds is a calendar month, and is kept in `monthly_counts`.
-- All keys are locked before anything is read: each statement in here sees what was committed before it.
CREATE FUNCTION hit_counts(
    names text[], keys text[], limits bigint[], seconds bigint[], slots bigint[], kept bigint[],
    now_at bigint, this_month text, hit_numbers integer[], places integer[]
) RETURNS TABLE (hit integer, place integer, reset_at bigint) LANGUAGE plpgsql AS $$
DECLARE
    remaining bigint[];
    added bigint[] := array_fill(0::bigint, ARRAY[cardinality(names)]);
    refused integer[] := '{}';
    full_places integer[] := '{}';
    first integer := 1;
    after integer;
    full_place integer;
BEGIN
    PERFORM pg_advisory_xact_lock(locks.number) FROM (
        SELECT DISTINCT hashtextextended(wanted.name || ' ' || wanted.key, 0) AS number
        FROM unnest(names, keys) AS wanted (name, key) ORDER BY number
    ) AS locks;

    SELECT array_agg(wanted.most - CASE WHEN wanted.width > 0 THEN coalesce((
        SELECT sum(each.count) FROM counts AS each WHERE each.window_name = wanted.name AND each.key = wanted.key
        AND each.live_until > now_at AND each.live_until <= now_at + 2 * wanted.width -- else the clock was put back
    ), 0) ELSE coalesce((
        SELECT each.count FROM monthly_counts AS each WHERE each.token_id = wanted.key AND each.month >= this_month
    ), 0) END ORDER BY wanted.number) INTO remaining
    FROM unnest(names, keys, limits, seconds) WITH ORDINALITY AS wanted (name, key, most, width, number);

    WHILE first <= cardinality(hit_numbers) LOOP
        after := first;
        full_place := NULL;
        WHILE after <= cardinality(hit_numbers) AND hit_numbers[after] = hit_numbers[first] LOOP
            IF full_place IS NULL AND remaining[places[after]] < 1 THEN
                full_place := places[after];
            END IF;
            after := after + 1;
        END LOOP;
        IF full_place IS NULL THEN
            FOR each IN first .. after - 1 LOOP
                remaining[places[each]] := remaining[places[each]] - 1;
                added[places[each]] := added[places[each]] + 1;
            END LOOP;
        ELSE
            refused := refused || hit_numbers[first];
            full_places := full_places || full_place;
        END IF;
        first := after;
    END LOOP;

    INSERT INTO counts AS old (window_name, key, slot, count, live_until, kept_until)
    SELECT wanted.name, wanted.key, wanted.slot, wanted.hits, now_at + wanted.width, wanted.kept
    FROM unnest(names, keys, slots, added, seconds, kept) AS wanted (name, key, slot, hits, width, kept)
    WHERE wanted.hits > 0 AND wanted.width > 0 ORDER BY 1, 2, 3
    ON CONFLICT (window_name, key, slot) DO UPDATE SET
        count = excluded.count + CASE
            WHEN old.live_until > now_at AND old.live_until <= 2 * excluded.live_until - now_at THEN old.count
            ELSE 0 END,
        live_until = CASE
            WHEN old.live_until <= 2 * excluded.live_until - now_at THEN greatest(old.live_until, excluded.live_until)
            ELSE excluded.live_until END,
        kept_until = excluded.kept_until;

    INSERT INTO monthly_counts AS old (token_id, month, count)
    SELECT tokens.id, this_month, wanted.hits FROM unnest(keys, added, seconds) AS wanted (key, hits, width)
    JOIN tokens ON tokens.id = wanted.key WHERE wanted.hits > 0 AND wanted.width = 0 ORDER BY 1
    ON CONFLICT (token_id) DO UPDATE SET
        count = excluded.count + CASE WHEN old.month >= excluded.month THEN old.count ELSE 0 END,
        month = greatest(old.month, excluded.month);

    RETURN QUERY SELECT full_one.hit, full_one.place, (
        SELECT min(each.live_until) FROM counts AS each
        WHERE each.window_name = names[full_one.place] AND each.key = keys[full_one.place] AND each.count > 0
        AND each.live_until > now_at AND each.live_until <= now_at + 2 * seconds[full_one.place]
    ) FROM unnest(refused, full_places) AS full_one (hit, place);
END
$$;

-- What waits in all queues, as one process has added it up for every other.
CREATE UNLOGGED TABLE load (
    one                 boolean PRIMARY KEY DEFAULT true CHECK (one),
    measured_at         double precision NOT NULL,
    queue_entries       bigint NOT NULL,
    queue_bytes         bigint NOT NULL,
    longest_queue       bigint NOT NULL,
    largest_queue_bytes bigint NOT NULL,
    pending_questions   bigint NOT NULL
);
