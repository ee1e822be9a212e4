package release

import (
	"bytes"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// TestNearest: what a text was made from is the version with the most lines in common.
func TestNearest(t *testing.T) {
	r := newSite(t)
	if _, err := r.in.Store.SaveVersion(t.Context(), r.offer); err != nil {
		t.Fatal(err)
	}
	versions, err := r.in.Store.Versions(t.Context(), "tagger")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range [][]byte{r.v0, r.v1} {
		edited := bytes.Replace(want, []byte("Tag them."), []byte("Tag all."), 1)
		if got := NearestVersion(versions, edited); got != skill.HashText(want) {
			t.Errorf("%q was made from %.12s, want %.12s", edited, got, skill.HashText(want))
		}
	}
	if got := NearestVersion(nil, r.v0); got != "" {
		t.Errorf("of no versions: %q", got)
	}
}
