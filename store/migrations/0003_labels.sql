-- Schema of version 3.

-- What a judge said of an answer that the owner has labelled, by the hash of all
-- that it was asked. No text: only how good it found the answer. run paid for it.
CREATE TABLE judgements (
    key     TEXT PRIMARY KEY,
    run     TEXT NOT NULL,
    skill   TEXT NOT NULL,
    case_id TEXT NOT NULL,
    quality REAL NOT NULL,
    passed  INTEGER NOT NULL,
    at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX judgements_by_case ON judgements (skill, case_id);

-- What a run knew of its judge: it is decided on once.
CREATE TABLE calibrations (
    run  TEXT PRIMARY KEY,
    at   INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Which of two answers the owner liked better, asked blind. first and second are
-- the SHA-256 of the answers, in the order in which they were shown; the answers
-- themselves stand in rollouts.
CREATE TABLE labels (
    skill   TEXT NOT NULL,
    case_id TEXT NOT NULL,
    first   TEXT NOT NULL,
    second  TEXT NOT NULL,
    at      INTEGER NOT NULL,
    body    TEXT NOT NULL,
    PRIMARY KEY (skill, case_id, first, second)
) STRICT, WITHOUT ROWID;
