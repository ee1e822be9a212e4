package sleep

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval/splits"
)

// A night that has nothing to do for a skill reports the reason, skill by
// skill.
func TestIdle(t *testing.T) {
	failed := func(n int) (uses []Use) {
		for i := range n {
			uses = append(uses, Use{Session: "s", At: evening.Add(-time.Duration(i+1) * time.Hour), Failed: true})
		}
		return uses
	}
	outlooks := map[string]Outlook{
		"few":      {Uses: failed(2), Train: 5},
		"caseless": {Uses: failed(9)},
		"unused":   {Train: 5},
		"waiting":  {Uses: failed(9), Train: 5, Challenger: "0123456789abcdef"},
		"busy":     {Uses: failed(9), Train: 12},
		"early":    {Uses: failed(9), Train: 7, Lack: splits.Lack{Train: 5, Val: 1}},
	}
	for name, o := range outlooks {
		o.Skill, o.Incumbent = name, "live"
		outlooks[name] = o
	}
	h := &house{outlooks: outlooks}
	c := h.cycle(Stored(openStore(t)))
	n := &Night{}
	for range 2 { // planned twice, it says it once
		if err := c.plan(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, k := range n.Idle {
		got = append(got, k.Skill)
		want := map[string]string{
			"few":      "2 of 2 uses in 60 days failed (corrected, rejected or repeated): a search begins at 3",
			"caseless": "but it has no training case",
			"unused":   "no use in 60 days",
			"early":    "but a search waits for 5 more train cases and 1 more validation case",
			"waiting":  "new text 0123456789ab waits for fresh unseen requests",
		}[k.Skill]
		if !strings.HasSuffix(k.Why, want) || k.Used != (k.Skill != "unused") {
			t.Errorf("%+v, want %s", k, want)
		}
	}
	slices.Sort(got)
	if s := strings.Join(got, " "); s != "caseless early few unused waiting" {
		t.Errorf("idle: %s", s)
	}
}
