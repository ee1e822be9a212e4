-- Schema of version 18.

-- Calls of which it is known whether a hook should have stopped them. They outlive their
-- transcripts and the text of their sessions, as other cases do, and go with a purged session.
CREATE TABLE hook_cases (
    id      INTEGER PRIMARY KEY,
    agent   TEXT NOT NULL,
    session TEXT NOT NULL,
    call    TEXT NOT NULL,
    event   TEXT NOT NULL,
    tool    TEXT NOT NULL,
    at      INTEGER,          -- Unix microseconds
    label   TEXT NOT NULL,    -- 'stop' or 'go'
    fault   TEXT NOT NULL,    -- why its input decides nothing: 'redacted' or 'cut', else ''
    first   INTEGER,          -- when the session began and ended, Unix microseconds
    last    INTEGER,
    input   TEXT NOT NULL,    -- JSON: what the hook got, redacted
    body    TEXT NOT NULL,    -- JSON: rule, words, source, project and folders
    UNIQUE (agent, session, call, event)
) STRICT;
CREATE INDEX hook_cases_session ON hook_cases (session);
CREATE INDEX hook_cases_call ON hook_cases (agent, call);
