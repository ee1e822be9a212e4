package hooktest

import (
	"testing"

	"github.com/skill-evolve/evolve/harvest"
)

// The calls of subagents are shown with their session's: one that worked where nothing may be sent
// from keeps all of them back.
func TestShows(t *testing.T) {
	stored := []harvest.Session{{Agent: "a", ID: "one", CWD: "/w"}, {Agent: "a", ID: "one/sub", CWD: "/secret"}, {Agent: "a", ID: "two", CWD: "/w"}, {Agent: "a", ID: "two/sub", CWD: "/w"}}
	may := Shows(stored, func(s *harvest.Session) bool { return s.CWD != "/secret" })
	for id, want := range map[string]bool{"one": false, "two": true, "gone": false} {
		if may("a", id) != want {
			t.Errorf("%s: %v", id, !want)
		}
	}
	if all := Shows(stored, nil); !all("a", "one") || all("b", "one") {
		t.Error("where all may be shown, not the stored ones are")
	}
}
