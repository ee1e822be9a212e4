package harvest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest/redact"
)

func TestScrub(t *testing.T) {
	needle := strings.Repeat("a1B2c3", 6)
	secret := "gh" + "p_" + needle
	s := &Session{ID: "s", Path: "/x", CWD: "/home/" + secret, Branch: "fix/" + secret, Commit: secret, Model: secret, Turns: []Turn{{Committed: secret}},
		Invocations: []Invocation{{Dir: "/skills/" + secret, Command: secret, Parent: secret}}, Problems: []Problem{{Reason: "bad " + secret}}}
	Scrub(s, redact.Detector{})
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), needle) || s.Redactions != 9 || s.Branch != "fix/[redacted:github-token]" {
		t.Errorf("%d redactions: %s", s.Redactions, b)
	}
}
