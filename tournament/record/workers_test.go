package record

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestAgreement: what one worker reports more of the challenger, the other reports less; who
// differs from all is found, and a few pairs may be chance.
func TestAgreement(t *testing.T) {
	if Agreement(nil, 0) != nil {
		t.Error("no controls agree on something")
	}
	var liar []Control
	for i := range 12 {
		liar = append(liar, Control{Cluster: fmt.Sprint(i), Worker: []string{"a", "c"}[i%2], By: "b", Again: 1})
	}
	for _, c := range []struct {
		name    string
		all     []Control
		dropped int
		says    string
	}{
		{"agree", []Control{{"1", "a", "b", 0.5, 0.1}, {"2", "b", "a", 0, 0}}, 0, "2 control pairs on other workers: same result in 2"},
		{"differ", []Control{{"1", "a", "b", 0.5, 0.5}, {"2", "a", "b", 0.6, 0}}, 1, "2 control pairs on other workers: same result in 1; worker a differs by +0.30 on average (2 pairs, which may be chance); 1 more were not measured: the budget or the workers did not suffice"},
		{"a liar", liar, 0, "12 control pairs on other workers: same result in 0; worker b differs by +1.00 on average (12 pairs, at most 1 time in "},
		{"dropped", nil, 2, "2 control pairs not measured on other workers: the budget or the workers did not suffice"},
	} {
		if got := Agreement(c.all, c.dropped).String(); got != c.says && !(strings.HasSuffix(c.says, " in ") && strings.HasPrefix(got, c.says)) {
			t.Errorf("%s: %q, want %q", c.name, got, c.says)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var all []Control
		for range rapid.IntRange(1, 20).Draw(t, "pairs") {
			all = append(all, Control{Worker: "a", By: "b", Seen: rapid.Float64Range(-1, 1).Draw(t, "seen"), Again: rapid.Float64Range(-1, 1).Draw(t, "again")})
		}
		of := Agreement(all, 0)
		if a, b := of.Workers[0], of.Workers[1]; a.Differs != -b.Differs || a.EValue != b.EValue || a.Pairs != len(all) {
			t.Fatalf("%+v and %+v are not each other's mirror image", a, b)
		}
	})
}
