package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestLongAnswersAreCut: however long the answers are and whatever they are made
// of, the page stays light, and says where they are whole.
func TestLongAnswersAreCut(t *testing.T) {
	var all []Case
	for i := range 1000 {
		c := Case{N: i + 1, ID: fmt.Sprint(i), Split: "test", Prompt: "p", Arms: []CaseArm{{Label: "incumbent"}, {Label: "challenger"}}}
		for k := range c.Arms {
			c.Arms[k].Answer = fmt.Sprint(i, k) + strings.Repeat("<", 50_000)
		}
		all = append(all, c)
	}
	m := &Model{Run: "r", Cases: all}
	var b bytes.Buffer
	if err := m.HTML(&b); err != nil {
		t.Fatal(err)
	}
	if b.Len() > bigBytes/2 {
		t.Errorf("%d bytes", b.Len())
	}
	if !strings.Contains(b.String(), "<code>evolve report r --json</code> has them whole") {
		t.Error("it is not said that texts are cut")
	}
	if l := listCases(all[:3], "", ""); l.Cut != mostRunes || len(l.Groups[0].Cases[0].Arms[0].Answer) < mostRunes {
		t.Errorf("three cases are cut at %d", l.Cut)
	}
	short := []Case{{N: 1, Prompt: "p", Arms: []CaseArm{{Label: "A", Answer: "same"}, {Label: "B", Answer: "same"}}}}
	if l := listCases(short, "", ""); l.Cut != 0 || l.Groups[0].Cases[0].Arms[1].Same != "A" {
		t.Errorf("%+v", l)
	}
}

// TestTriggerCase: whether the skill was loaded is what such a case is about.
func TestTriggerCase(t *testing.T) {
	yes, no := true, false
	c := Case{N: 1, ID: "t", Prompt: "p", Trigger: &yes, Arms: []CaseArm{{Label: "incumbent", Invoked: &no}, {Label: "challenger", Invoked: &yes}, {Label: "no skill"}}}
	v := listCases([]Case{c}, "", "").Groups[0].Cases[0]
	got := strings.Join(v.Facts, ",") + "; " + strings.Join(v.Arms[0].Facts, ",") + "; " + strings.Join(v.Arms[1].Facts, ",") + "; " + strings.Join(v.Arms[2].Facts, ",")
	for _, want := range []string{"the skill should be loaded; ", "skill not loaded; ", ",skill loaded; "} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if strings.HasSuffix(got, "loaded") {
		t.Errorf("%q says what nobody knows", got)
	}
}
