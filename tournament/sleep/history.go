package sleep

import "time"

// A Spell is one stay of a text in the place where agents read a skill: from then
// on, until the next one begins.
type Spell struct {
	Version string    // SHA-256, "" where nobody knows, or where there was nothing
	From    time.Time // zero: since before anybody looked
}

// A History is what was in place, in order; a text may be there several times.
// What was found first was there before it was found.
type History []Spell

// At is the SHA-256 of what was in place then, "" where nobody knows; a time that
// is zero is one that nobody knows.
func (h History) At(t time.Time) (version string) {
	if t.IsZero() || len(h) == 0 {
		return ""
	}
	version = h[0].Version
	for _, s := range h {
		if s.From.After(t) {
			break
		}
		version = s.Version
	}
	return version
}

// Since is when what is in place was put there, zero for what was found.
func (h History) Since() time.Time {
	if len(h) < 2 {
		return time.Time{}
	}
	return h[len(h)-1].From
}
