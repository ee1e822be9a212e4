-- Schema of version 9.

-- Every trial that was ever begun of a skill, whoever began it, in order of
-- beginning: what the error of its lifetime is divided over. A row outlives what
-- became of its trial: a purge takes texts and evidence, never a number.
CREATE TABLE trial_numbers (
    skill      TEXT NOT NULL,
    number     INTEGER NOT NULL, -- from 1
    incumbent  TEXT NOT NULL,
    challenger TEXT NOT NULL,
    round      INTEGER NOT NULL, -- of a trial that started again on another model
    simulated  INTEGER NOT NULL,
    proved     INTEGER NOT NULL, -- 1: a promotion at its level
    before     INTEGER NOT NULL, -- promotions of its kind when it began
    PRIMARY KEY (skill, number),
    UNIQUE (skill, incumbent, challenger, round)
) STRICT;

-- The trials that nights have counted keep their numbers.
INSERT OR IGNORE INTO trial_numbers (skill, number, incumbent, challenger, round, simulated, proved, before)
SELECT s.skill, t.value ->> '$.number', t.value ->> '$.incumbent', t.value ->> '$.challenger', coalesce(t.value ->> '$.round', 0),
    coalesce((SELECT simulated FROM trials WHERE skill = s.skill AND incumbent = t.value ->> '$.incumbent' AND challenger = t.value ->> '$.challenger'), 0),
    (SELECT count(*) FROM json_each(s.body, '$.lifetime.rejected') WHERE value = t.value ->> '$.number') > 0,
    (SELECT count(*) FROM json_each(s.body, '$.lifetime.rejected') WHERE value < t.value ->> '$.number')
FROM sleep_states s, json_each(s.body, '$.trials') t;

-- The others, which their owners ran, come behind them in order of beginning.
-- What was proved when they began is not known: nothing is the stricter answer.
WITH RECURSIVE begun (skill, incumbent, challenger, simulated, place, round, last) AS (
    SELECT skill, incumbent, challenger, simulated, rowid, 0, coalesce(json_array_length(body, '$.state.past'), 0)
    FROM trials WHERE json_type(body, '$.state.trial') IS NOT 'null'
    UNION ALL
    SELECT skill, incumbent, challenger, simulated, place, round + 1, last FROM begun WHERE round < last
)
INSERT INTO trial_numbers (skill, number, incumbent, challenger, round, simulated, proved, before)
SELECT b.skill,
    coalesce((SELECT max(number) FROM trial_numbers WHERE skill = b.skill), 0) + row_number() OVER (PARTITION BY b.skill ORDER BY b.place, b.round),
    b.incumbent, b.challenger, b.round, b.simulated, 0, 0
FROM begun b
WHERE NOT EXISTS (SELECT 1 FROM trial_numbers n
    WHERE n.skill = b.skill AND n.incumbent = b.incumbent AND n.challenger = b.challenger AND n.round = b.round);
