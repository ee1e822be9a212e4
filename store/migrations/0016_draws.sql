-- Schema of version 16.

-- How the turns that become cases of a subject are drawn: body is a moments.Draw, with the
-- seed of its coin and counts. No text.
CREATE TABLE draws (
    subject TEXT PRIMARY KEY,
    body    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
