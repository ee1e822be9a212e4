-- Schema of version 7.

-- How often a skill was used, as SkillUses counts it. A row is made when somebody
-- asks, and goes with whatever changes about the uses of its skill: counting them
-- means looking for copies among all of them.
CREATE TABLE use_counts (
    skill     TEXT PRIMARY KEY,
    uses      INTEGER NOT NULL,
    accepted  INTEGER NOT NULL,
    corrected INTEGER NOT NULL,
    rejected  INTEGER NOT NULL,
    repeated  INTEGER NOT NULL,
    abandoned INTEGER NOT NULL,
    last      INTEGER
) STRICT, WITHOUT ROWID;

CREATE TRIGGER use_counts_insert AFTER INSERT ON invocations BEGIN
    DELETE FROM use_counts WHERE skill = NEW.skill;
END;
CREATE TRIGGER use_counts_update AFTER UPDATE ON invocations BEGIN
    DELETE FROM use_counts WHERE skill IN (OLD.skill, NEW.skill);
END;
CREATE TRIGGER use_counts_delete AFTER DELETE ON invocations BEGIN
    DELETE FROM use_counts WHERE skill = OLD.skill;
END;
