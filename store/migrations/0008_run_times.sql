-- Schema of version 8.

-- What a run has used of its time, in milliseconds over all processes that worked on
-- it, written as it goes: one that is killed tells nothing.
CREATE TABLE run_times (
    run TEXT PRIMARY KEY,
    ms  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The run of a skill that somebody started and that has no row in runs yet: it still
-- reads the corrections. Where its process is gone, the next one goes on with it, and
-- with what it has spent.
CREATE TABLE beginnings (
    skill TEXT PRIMARY KEY,
    run   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
