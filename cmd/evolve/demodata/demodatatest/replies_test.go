package demodatatest

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
)

func TestRepliesReadAsTheyAreMeant(t *testing.T) {
	for _, c := range corrections {
		for _, l := range newPlan().world.Lessons {
			reply := capital(strings.ReplaceAll(c, "{s}", l.Says))
			if f := harvest.Classify(reply); f.Label != harvest.Corrected {
				t.Errorf("%q reads as %s, want a correction", reply, f.Label)
			}
		}
	}
	for _, reply := range thanks {
		if f := harvest.Classify(reply); f.Label != harvest.Accepted {
			t.Errorf("%q reads as %s, want acceptance", reply, f.Label)
		}
	}
}
