package sleep

import "time"

// A Stay is one stay of a text in the place that agents load a skill from:
// from then on, until the next one begins.
type Stay struct {
	Version string    // SHA-256, "" if it is not known or there was nothing
	From    time.Time // zero: since before the first look
}

// A Timeline is the texts that were in place, in order; a text may occur
// several times. The text that was found first was there before it was found.
type Timeline []Stay

// At is the SHA-256 of the text in place at t, "" if that is not known or t
// is zero.
func (h Timeline) At(t time.Time) (version string) {
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

// Since is when the present text was put in place, zero if it was found.
func (h Timeline) Since() time.Time {
	if len(h) < 2 {
		return time.Time{}
	}
	return h[len(h)-1].From
}
