-- Schema of version 1. Never edit a migration that was released: add the next one.
--
-- body is the whole record as JSON, as package eval, harvest or tournament
-- writes it; the other columns are what queries select and order by. Times are
-- Unix microseconds, NULL where they are unknown. Texts of skills are kept
-- apart from body, byte for byte.

CREATE TABLE runs (
    id      TEXT PRIMARY KEY,
    skill   TEXT NOT NULL,
    status  TEXT NOT NULL,
    started INTEGER,
    body    TEXT NOT NULL
) STRICT;
CREATE INDEX runs_by_skill ON runs (skill, started);

CREATE TABLE candidates (
    run  TEXT NOT NULL,
    seq  INTEGER NOT NULL,
    sha  TEXT NOT NULL,
    text BLOB,
    body TEXT NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT;
CREATE INDEX candidates_by_sha ON candidates (sha);

CREATE TABLE events (
    run  TEXT NOT NULL,
    seq  INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

-- A run keeps its own row of a key, even where another run has measured the
-- same: what a run has decided on must not change under it.
CREATE TABLE rollouts (
    id        INTEGER PRIMARY KEY,
    key       TEXT NOT NULL,
    run       TEXT NOT NULL,
    candidate TEXT NOT NULL,
    case_id   TEXT NOT NULL,
    arm       TEXT NOT NULL,
    status    TEXT NOT NULL,
    body      TEXT NOT NULL,
    UNIQUE (key, run)
) STRICT;
CREATE INDEX rollouts_by_run ON rollouts (run, candidate);
CREATE INDEX rollouts_by_candidate ON rollouts (candidate);
CREATE INDEX rollouts_by_case ON rollouts (case_id);

CREATE TABLE completions (
    run   TEXT NOT NULL,
    key   TEXT NOT NULL,
    maker TEXT NOT NULL, -- an eval.Spender
    at    INTEGER NOT NULL,
    body  TEXT NOT NULL,
    PRIMARY KEY (run, key)
) STRICT;

CREATE TABLE trials (
    skill      TEXT NOT NULL,
    incumbent  TEXT NOT NULL,
    challenger TEXT NOT NULL,
    simulated  INTEGER NOT NULL,
    updated    INTEGER,
    body       TEXT NOT NULL,
    PRIMARY KEY (skill, incumbent, challenger)
) STRICT;

CREATE TABLE spent (
    skill      TEXT NOT NULL,
    incumbent  TEXT NOT NULL,
    case_id    TEXT NOT NULL,
    challenger TEXT NOT NULL,
    PRIMARY KEY (skill, incumbent, case_id)
) STRICT, WITHOUT ROWID;

-- split is authoritative; body carries none. A dropped case stays as a name
-- without content, so that the next harvest does not bring it back.
CREATE TABLE cases (
    skill   TEXT NOT NULL,
    id      TEXT NOT NULL,
    split   TEXT NOT NULL,
    session TEXT NOT NULL,
    added   INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    dropped INTEGER,
    body    TEXT NOT NULL,
    PRIMARY KEY (skill, id)
) STRICT;
CREATE INDEX cases_by_session ON cases (session);

-- head is a session without its turns, which are most of its bytes.
CREATE TABLE sessions (
    id       TEXT NOT NULL,
    path     TEXT NOT NULL,
    agent    TEXT NOT NULL,
    headless INTEGER NOT NULL,
    started  INTEGER,
    head     TEXT NOT NULL,
    turns    TEXT NOT NULL,
    PRIMARY KEY (id, path)
) STRICT;
CREATE INDEX sessions_by_start ON sessions (started);

CREATE TABLE invocations (
    session TEXT NOT NULL,
    path    TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    id      TEXT NOT NULL,
    skill   TEXT NOT NULL,
    label   TEXT NOT NULL,
    failed  INTEGER NOT NULL,
    at      INTEGER,
    body    TEXT NOT NULL,
    PRIMARY KEY (session, path, seq),
    FOREIGN KEY (session, path) REFERENCES sessions (id, path) ON DELETE CASCADE
) STRICT;
CREATE INDEX invocations_by_skill ON invocations (skill, at);

-- What was purged stays away: the SHA-256 of a session's id, nothing else of it.
CREATE TABLE purged (
    session_sha TEXT PRIMARY KEY,
    at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE cursors (
    source   TEXT NOT NULL,
    path     TEXT NOT NULL,
    size     INTEGER NOT NULL,
    modified INTEGER NOT NULL, -- Unix nanoseconds: a file may change twice in a microsecond's rounding
    PRIMARY KEY (source, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE versions (
    skill TEXT NOT NULL,
    n     INTEGER NOT NULL,
    sha   TEXT NOT NULL,
    text  BLOB,
    body  TEXT NOT NULL,
    PRIMARY KEY (skill, n)
) STRICT;
CREATE INDEX versions_by_sha ON versions (skill, sha);

CREATE TABLE installs (
    id       INTEGER PRIMARY KEY,
    skill    TEXT NOT NULL,
    path     TEXT NOT NULL,
    from_sha TEXT NOT NULL,
    to_sha   TEXT NOT NULL,
    note     TEXT NOT NULL,
    begun    INTEGER NOT NULL,
    ended    INTEGER,
    outcome  TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX one_install_at_a_time ON installs (path) WHERE ended IS NULL;

CREATE TABLE installed (
    skill TEXT NOT NULL,
    path  TEXT NOT NULL,
    sha   TEXT NOT NULL,
    at    INTEGER NOT NULL,
    PRIMARY KEY (skill, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE kernels (
    skill TEXT NOT NULL,
    sha   TEXT NOT NULL,
    at    INTEGER NOT NULL,
    PRIMARY KEY (skill, sha)
) STRICT, WITHOUT ROWID;
