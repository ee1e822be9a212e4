-- Schema of version 5.

-- The right to run a cycle of `evolve sleep`: one row. generation grows with
-- every owner, so that one who lost it is told by it.
CREATE TABLE sleep_lease (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    owner      TEXT NOT NULL, -- '' while nobody has it
    generation INTEGER NOT NULL,
    expires    INTEGER NOT NULL
) STRICT;
INSERT INTO sleep_lease (id, owner, generation, expires) VALUES (1, '', 0, 0);

-- Nights, and what a skill's nights have in common. body holds no recorded text
-- of anybody's.
CREATE TABLE nights (
    id    TEXT PRIMARY KEY, -- of when it began: sorted by name is sorted by time
    began INTEGER NOT NULL,
    body  TEXT NOT NULL
) STRICT;
CREATE TABLE sleep_states (
    skill TEXT PRIMARY KEY,
    body  TEXT NOT NULL
) STRICT;
