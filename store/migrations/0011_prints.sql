-- Schema of version 11.

-- The key of the prints of this database: see eval.Print. A print names what a case
-- asks, and holds nothing of the text; it stays when the case is dropped, changed or
-- purged, so that nothing is evidence twice under another name.
CREATE TABLE print_key (
    id  INTEGER PRIMARY KEY CHECK (id = 1),
    key BLOB NOT NULL
) STRICT;
INSERT INTO print_key (id, key) VALUES (1, randomblob(32));

-- What was spent on a challenger, by print.
CREATE TABLE spent_prints (
    skill      TEXT NOT NULL,
    incumbent  TEXT NOT NULL,
    print      TEXT NOT NULL,
    challenger TEXT NOT NULL,
    PRIMARY KEY (skill, incumbent, print)
) STRICT, WITHOUT ROWID;

-- What train and validation cases asked that are gone, or ask something else now: a
-- search may have read it.
CREATE TABLE read_prints (
    skill TEXT NOT NULL,
    print TEXT NOT NULL,
    PRIMARY KEY (skill, print)
) STRICT, WITHOUT ROWID;
