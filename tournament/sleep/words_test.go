package sleep

import (
	"strings"
	"testing"
)

// TestWordsTellACapFromASearch: a search that a cap ended has not shown that there
// is nothing to find.
func TestWordsTellACapFromASearch(t *testing.T) {
	if got := (&Result{Stopped: true}).words(); !strings.Contains(got, "budget ended") {
		t.Errorf("stopped by a cap: %q", got)
	}
	if got := (&Result{}).words(); got != "nothing beat the installed text" {
		t.Errorf("searched to the end: %q", got)
	}
}
