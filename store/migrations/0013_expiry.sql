-- Schema of version 13.

-- When the text of a session expired; NULL while it is kept.
ALTER TABLE sessions ADD COLUMN expired INTEGER;
CREATE INDEX sessions_kept ON sessions (id) WHERE expired IS NULL;

-- What a case still needs of its session's text after that: a harvest.Recording. expired
-- is when the text of what was measured on a dropped case expired.
ALTER TABLE cases ADD COLUMN recorded TEXT;
ALTER TABLE cases ADD COLUMN expired INTEGER;

-- A row: the file still has to be rewritten without what expired.
CREATE TABLE rewrites (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    at INTEGER NOT NULL
) STRICT;

-- The newest time at which text might expire, and since when a clock far ahead of it is
-- doubted.
CREATE TABLE clock (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    seen INTEGER NOT NULL,
    doubted INTEGER
) STRICT;
