-- Schema of version 15.

-- How many uses no model has read. NULL: counted by an older evolve, and counted anew when
-- somebody asks.
ALTER TABLE use_counts ADD COLUMN unread INTEGER;
