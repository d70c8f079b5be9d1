-- A question may bring more than its text: then phones sign version 2, may have to type a number, and may add a comment.

ALTER TABLE interactions
    ADD COLUMN answer_version integer NOT NULL DEFAULT 1,
    ADD COLUMN asks_number    boolean NOT NULL DEFAULT false,
    ADD COLUMN wrong_signature bytea,
    ADD COLUMN comment_key    bytea,
    ADD COLUMN number         text,
    ADD COLUMN comment        bytea,
    ADD COLUMN comment_sha256 text;
