-- Schema of version 6.

-- What an install is part of: 'promote' or 'rollback'. to_sha is '' where a skill
-- is removed again from where evolve had put it.
ALTER TABLE installs ADD COLUMN op TEXT NOT NULL DEFAULT '';

-- Folders that evolve has put where a skill was absent: a JSON array of the files
-- beside the SKILL.md, with their SHA-256, for taking them back.
CREATE TABLE planted (
    skill TEXT NOT NULL,
    path  TEXT NOT NULL, -- of the SKILL.md, as in installed
    files TEXT NOT NULL,
    PRIMARY KEY (skill, path)
) STRICT, WITHOUT ROWID;

-- Skills that stay as they are until their owner says otherwise.
CREATE TABLE pins (
    skill TEXT PRIMARY KEY,
    sha   TEXT NOT NULL,
    at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
