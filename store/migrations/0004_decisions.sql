-- Schema of version 4.

-- What the owner has said of a candidate, by its text: the last word counts, the
-- earlier ones stay. body holds no text of the candidate.
CREATE TABLE decisions (
    id    INTEGER PRIMARY KEY,
    skill TEXT NOT NULL,
    sha   TEXT NOT NULL,
    word  TEXT NOT NULL,
    at    INTEGER NOT NULL,
    body  TEXT NOT NULL
) STRICT;
CREATE INDEX decisions_by_skill ON decisions (skill, sha);
