-- A question may bring more than its text: then phones sign version 2, may have to type a number, and may add a comment.

ALTER TABLE interactions ADD COLUMN answer_version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE interactions ADD COLUMN asks_number INTEGER NOT NULL DEFAULT 0;
ALTER TABLE interactions ADD COLUMN wrong_signature BLOB;
ALTER TABLE interactions ADD COLUMN comment_key BLOB;
ALTER TABLE interactions ADD COLUMN number TEXT;
ALTER TABLE interactions ADD COLUMN comment BLOB;
ALTER TABLE interactions ADD COLUMN comment_sha256 TEXT;
