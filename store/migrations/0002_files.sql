-- Schema of version 2.

-- What else is known of a file that was read. Rows of version 1 have none of it:
-- their files are read once more, with all that readers have learned since.
-- device and inode are unsigned, stored as signed; changed is Unix nanoseconds.
ALTER TABLE cursors ADD COLUMN device INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cursors ADD COLUMN inode INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cursors ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cursors ADD COLUMN "end" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cursors ADD COLUMN last TEXT NOT NULL DEFAULT '';

-- What a model made of a session's text, by the hash of all that it was asked.
CREATE TABLE readings (
    key     TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    at      INTEGER NOT NULL,
    body    BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX readings_by_session ON readings (session);
