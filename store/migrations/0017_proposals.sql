-- Schema of version 17.

-- Texts for files that git tracks, on their way to the others who use them: what a working
-- tree got at its owner's word, branches that were made, patches that were printed.
CREATE TABLE proposals (
    id      INTEGER PRIMARY KEY,
    skill   TEXT NOT NULL,
    kind    TEXT NOT NULL,    -- "tree", "branch" or "patch"
    place   TEXT NOT NULL,    -- the file of a working tree, else the repository
    branch  TEXT NOT NULL,    -- its name, "" for another kind
    commit_id TEXT NOT NULL,  -- that was made, "" for another kind
    from_sha TEXT NOT NULL,   -- SHA-256 of the text that it changes, and of the new one
    to_sha  TEXT NOT NULL,
    before  BLOB,             -- what the working tree had, until it is over
    version TEXT NOT NULL,    -- JSON of the version that the new text will be, without the text
    made    INTEGER NOT NULL, -- Unix microseconds
    ended   INTEGER           -- taken back, or found on the default branch
) STRICT;
