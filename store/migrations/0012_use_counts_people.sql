-- Schema of version 12.

-- Uses are counted in people's sessions alone, and those in sessions that a program
-- drove apart from them, here. NULL: counted by an older evolve, and counted anew when
-- somebody asks.
ALTER TABLE use_counts ADD COLUMN headless INTEGER;
