-- Schema of version 10.

-- Where the path of a skill last led to: a folder may be moved and linked, or a
-- symlink be put elsewhere, and what was known of the place is known of the next.
CREATE TABLE homes (
    skill TEXT NOT NULL,
    link  TEXT NOT NULL, -- the SKILL.md as agents find it, absolute
    path  TEXT NOT NULL, -- the same file, symlinks resolved
    PRIMARY KEY (skill, link)
) STRICT;
