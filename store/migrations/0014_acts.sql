-- Schema of version 14.

-- What an agent did in a turn of a session, as JSON of []work.Act. It expires with the
-- session's text, and goes with the session.
CREATE TABLE acts (
    session TEXT NOT NULL,
    path    TEXT NOT NULL,
    turn    INTEGER NOT NULL, -- counts from 0
    body    TEXT NOT NULL,
    PRIMARY KEY (session, path, turn),
    FOREIGN KEY (session, path) REFERENCES sessions (id, path) ON DELETE CASCADE
) STRICT;
