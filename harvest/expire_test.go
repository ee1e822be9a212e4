package harvest

import (
	"testing"
)

// Whether a model may read a case whose session's text has expired is decided on what was
// known of the session: its folders, and who recorded it.
func TestKeptIsOfItsSession(t *testing.T) {
	s := corrected("s1")
	s.Agent, s.Vendor, s.Folders = "codex", UnknownVendor, []string{"/a", "/b"}
	cases, _ := mine(t, Miner{}, s)
	kept := Kept{Case: cases[0], Recording: RecordingOf(s, &cases[0])}
	if len(kept.Corrections) == 0 {
		t.Fatalf("%+v", kept)
	}
	var asked []*Session
	w := &oracle{}
	mine(t, Miner{Model: w, Kept: []Kept{kept}, May: func(s *Session) bool { asked = append(asked, s); return false }})
	if len(asked) != 1 || asked[0].Vendor != UnknownVendor || asked[0].Agent != "codex" || len(asked[0].Folders) != 2 || len(w.seen) > 0 {
		t.Errorf("asked about %+v, and the model %+v", asked, w.seen)
	}
}
