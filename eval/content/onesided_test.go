package content

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

func TestOneSentence(t *testing.T) {
	const same = "no, wrong. Load the palette first"
	corrected := func(said ...string) (cases []eval.Case) {
		for i, s := range said {
			cases = append(cases, eval.Case{ID: fmt.Sprint(i), Checks: []eval.Check{{Type: eval.Judge, Feedback: eval.Saying("missing", s)}},
				Source: &eval.Source{Origin: "mined", Outcome: "corrected"}})
		}
		return cases
	}
	times := func(n int, said string) []string { return strings.Split(strings.Repeat(said+"\n", n-1)+said, "\n") }
	generated := corrected(times(4, same)...)
	for i := range generated {
		generated[i].Source.Origin = "generated"
	}
	accepted := corrected(times(4, "thanks")...)
	for i := range accepted {
		accepted[i].Source.Outcome = "accepted"
	}
	for name, c := range map[string]struct {
		cases []eval.Case
		want  string
	}{
		"all":         {corrected(times(4, same)...), "4 of 4 corrections are the same sentence: “" + same + "” — check that you said it"},
		"most":        {corrected(append(times(3, same), "use bars", "add a title")...), "3 of 5 corrections are the same sentence: “" + same + "” — check that you said it"},
		"nearly":      {corrected(same, "No, wrong: load the PALETTE first!", "no, wrong. Load the palette first, ok", "use bars"), "3 of 4 corrections are the same sentence: “" + same + "” — check that you said it"},
		"and another": {corrected(same+" / use bars", same, same), "3 of 3 corrections are the same sentence: “" + same + "” — check that you said it"},
		"half":        {corrected(append(times(3, same), "use bars", "add a title", "sort it")...), ""},
		"few":         {corrected(same, same), ""},
		"different":   {corrected("use bars", "add a title", "sort it", "no, in blue"), ""},
		"generated":   {generated, ""},
		"accepted":    {accepted, ""},
		"no words":    {make([]eval.Case, 4), ""},
		"hidden":      {corrected(times(3, "no\x1b[31m,\u202e wrong "+strings.Repeat("x", 200))...), "3 of 3 corrections are the same sentence: “no, wrong " + strings.Repeat("x", 109) + "…” — check that you said it"},
	} {
		if got := strings.Join(OneSided(c.cases), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	from := func(session, repo string, said ...string) []eval.Case {
		cases := corrected(said...)
		for i := range cases {
			cases[i].Source.Session, cases[i].Workspace = session, &eval.Workspace{Repo: repo}
		}
		return cases
	}
	a, b := []string{"use bars", "add a title", "sort it"}, []string{"no, in blue", "no legend"}
	for name, c := range map[string]struct {
		cases []eval.Case
		want  string
	}{
		"one session": {slices.Concat(from("s1", "", a...), from("s2", "", b...)), "3 of 5 corrections are of one session, s1"},
		"two":         {slices.Concat(from("s1", "", a[:2]...), from("s2", "", b...)), ""},
		"one project": {slices.Concat(from("s1", "/w/a", a[:2]...), from("s2", "/w/a", a[2:]...), from("s3", "/w/b", b[:1]...)), "3 of 4 corrections are of one project, a"},
		"no other":    {slices.Concat(from("s1", "/w/a", a[:2]...), from("s2", "/w/a", b...)), ""},
	} {
		if got := strings.Join(OneSided(c.cases), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
