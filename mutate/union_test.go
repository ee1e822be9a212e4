package mutate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"pgregory.net/rapid"
)

// combine is the merge by rule that a Merger asks a model to improve.
func combine(parent *skill.Document, ps []Proposal) (Proposal, error) {
	view, _, taught := combined(parent, ps)
	return propose(parent, view, unique(taught))
}

const (
	unionHead = "---\nname: s\ndescription: d\n---\n\n# S\n\n"
	unionTail = "\n<!-- kernel -->\nKeep it safe.\n<!-- /kernel -->\n"
)

func unionOf(t interface {
	Helper()
	Fatal(...any)
}, base string, sides ...string) (*skill.Document, []Proposal) {
	t.Helper()
	doc := func(body string) *skill.Document {
		d, err := skill.Parse([]byte(unionHead+body+unionTail), skill.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	var ps []Proposal
	for i, s := range sides {
		ps = append(ps, Proposal{Doc: doc(s), Taught: []string{fmt.Sprint("c", i)}})
	}
	return doc(base), ps
}

// dense is a text without blank lines.
func dense(s string) string {
	for strings.Contains(s, "\n\n") {
		s = strings.ReplaceAll(s, "\n\n", "\n")
	}
	return s
}

func bodyOf(p Proposal) string {
	s := string(p.Doc.Render())
	return strings.TrimSuffix(strings.TrimPrefix(s, unionHead), unionTail)
}

func TestUnionSaysEachRuleOnce(t *testing.T) {
	const (
		least   = "Leave out internal chores."
		most    = "Leave out internal chores, readers do not care for them."
		another = "Readers do not care for our internal chores: leave them out."
	)
	for _, c := range []struct {
		name, base string
		sides      []string
		want       string
	}{
		{"in one line", "- Say what changed.\n",
			[]string{"- Say what changed. " + least + "\n", "- Say what changed. " + most + "\n", "- Say what changed. " + another + "\n"},
			"- Say what changed. " + most + "\n"},
		{"run together by a merge", "- Write one line for every change. Mention chores. Thank the authors at the end.\n",
			[]string{"- Write one line for every change. " + least + " Thank the authors at the end.\n",
				"- Write one line for every change. " + most + " Mention chores. Thank the authors at the end.\n",
				"- Write one line for every change. Mention chores. " + another + " Thank the authors at the end.\n"},
			"- Write one line for every change. " + most + " Thank the authors at the end.\n"},
		{"a line that all rewrote", "- Be complete. Say it. Be kind.\n",
			[]string{"- " + least + " Say it. Be kind.\n", "- Be complete. " + most + " Be kind.\n", "- Be complete. Say it. " + another + "\n"},
			"- Say it.\n- Be complete. " + most + " Be kind.\n"},
		{"on lines of their own", "- Say what changed.\n",
			[]string{"- Say what changed.\n- " + most + "\n", "- " + another + "\n- Say what changed.\n", "- Say what changed.\n- " + least + "\n"},
			"- " + another + "\n- Say what changed.\n"},
		{"the one that says most is last", "- Say what changed.\n",
			[]string{"- Say what changed. " + least + "\n", "- Say what changed.\n- " + most + "\n"},
			"- Say what changed.\n- " + most + "\n"},
		{"another rule at the same place", "- Say what changed.\n",
			[]string{"- Say what changed. Name the author.\n", "- Say what changed. Link the issue.\n"},
			"- Say what changed. Name the author.\n- Link the issue.\n"},
		{"two additions to one line", "- Say what changed.\n",
			[]string{"- Read the log. Say what changed.\n", "- Say what changed. Link the issue.\n"},
			"- Read the log. Say what changed.\n- Link the issue.\n"},
		{"the opposite", "- Say what changed.\n",
			[]string{"- Say what changed.\n- Label the value axis.\n", "- Say what changed.\n- Do not label the value axis.\n"},
			"- Say what changed.\n- Label the value axis.\n- Do not label the value axis.\n"},
		{"a condition", "- Say what changed.\n",
			[]string{"- Say what changed.\n- Label the value axis.\n", "- Say what changed.\n- If the chart is small, label the value axis.\n"},
			"- Say what changed.\n- Label the value axis.\n- If the chart is small, label the value axis.\n"},
		{"the other way round", "- Say what changed.\n",
			[]string{"- Say what changed.\n- Put names before dates.\n", "- Say what changed.\n- Put dates before names.\n"},
			"- Say what changed.\n- Put names before dates.\n- Put dates before names.\n"},
		{"another literal", "- Say what changed.\n",
			[]string{"- Say what changed.\n- Start each heading with `#`.\n", "- Say what changed.\n- Start each heading with `##`.\n"},
			"- Say what changed.\n- Start each heading with `#`.\n- Start each heading with `##`.\n"},
		{"the owner's line stays", "- Leave out internal chores.\n",
			[]string{"- Leave out internal chores.\n- " + most + "\n", "- Leave out internal chores.\n- Link the issue.\n"},
			"- Leave out internal chores.\n- " + most + "\n- Link the issue.\n"},
		{"what one side wants twice", "# A\n\nText here.\n\n# B\n\nMore here.\n",
			[]string{"# A\n\nText here.\n\n- Run all tests.\n\n# B\n\nMore here.\n\n- Run all tests again.\n", "# A\n\nText here.\n\n# B\n\nMore here.\n\n- Link the issue.\n"},
			"# A\n\nText here.\n\n- Run all tests.\n\n# B\n\nMore here.\n\n- Run all tests again.\n- Link the issue.\n"},
	} {
		parent, ps := unionOf(t, c.base, c.sides...)
		p, err := combine(parent, ps)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got, want := dense(bodyOf(p)), dense(c.want); got != want {
			t.Errorf("%s: the union is\n%s\nwant\n%s", c.name, got, want)
		}
	}
}

// drawRule is a rule of a small vocabulary, so that some mean the same, more,
// less, the opposite, or something else.
func drawRule(t *rapid.T) string {
	core := rapid.SampledFrom([]string{"label the value axis", "sort bars by value", "link the issue number", "quote `code` names", "name authors before dates"}).Draw(t, "rule")
	switch rapid.IntRange(0, 5).Draw(t, "form") {
	case 0:
		core += ", readers ask for it"
	case 1:
		core = "do not " + core
	case 2:
		core = "if it is short, " + core
	case 3:
		core += " and keep it tidy"
	}
	return strings.ToUpper(core[:1]) + core[1:] + "."
}

// drawSide changes base: rules are added to lines and as lines, lines are removed.
func drawSide(t *rapid.T, base []string) string {
	var out []string
	for _, line := range base {
		switch rapid.IntRange(0, 6).Draw(t, "change") {
		case 0:
			continue
		case 1:
			line += " " + drawRule(t)
		case 2:
			line = "- " + drawRule(t) + strings.TrimPrefix(line, "-")
		case 3:
			line += "\n- " + drawRule(t)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n") + "\n- End of it.\n"
}

func TestUnionProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var base []string
		for i := range rapid.IntRange(1, 3).Draw(t, "lines") {
			base = append(base, fmt.Sprintf("- Own line %c stays here.", 'A'+i))
		}
		if rapid.Bool().Draw(t, "own rule") {
			base = append(base, "- "+drawRule(t))
		}
		var sides []string
		for range rapid.IntRange(2, 4).Draw(t, "sides") {
			sides = append(sides, drawSide(t, base))
		}
		parent, ps := unionOf(t, strings.Join(base, "\n")+"\n- End of it.\n", sides...)
		p, err := combine(parent, ps)
		if err != nil {
			if p, same := err.(*ReplyError); same && p.Reason == "nothing changed" {
				return
			}
			t.Fatal(err)
		}
		if q, err := combine(parent, ps); err != nil || q.Doc.Hash() != p.Doc.Hash() {
			t.Fatalf("not the same twice: %v", err)
		}
		if p.Doc.KernelHash() != parent.KernelHash() {
			t.Fatal("the kernel changed")
		}
		old := statementsOf(parent.View())
		said := counted(old)
		got := statementsOf(p.Doc.View())
		has := counted(got)
		var fresh [][]statement
		holds := func(s, x *statement) bool { // some side holds both
			return slices.ContainsFunc(fresh, func(side []statement) bool {
				c := counted(side)
				return c[s.norm] > 0 && c[x.norm] > 0 && (s.norm != x.norm || c[s.norm] > 1)
			})
		}
		for _, q := range ps {
			fresh = append(fresh, statementsOf(q.Doc.View()))
		}
		for i := range old { // what all kept stays
			kept := !slices.ContainsFunc(fresh, func(side []statement) bool { return counted(side)[old[i].norm] == 0 })
			if kept && has[old[i].norm] == 0 {
				t.Fatalf("%q is lost, all sides of %q kept it, %q:\n%s", old[i].text, base, sides, p.Doc.View())
			}
		}
		for k, side := range fresh { // no rule is lost that is unlike all others
			for i := range side {
				s := &side[i]
				if s.fixed || said[s.norm] > 0 || has[s.norm] > 0 {
					continue
				}
				unlike := func(x statement) bool { return x.fixed || !s.like(&x) && !x.says(s) }
				if !slices.ContainsFunc(got, func(x statement) bool { return !unlike(x) }) {
					t.Fatalf("%q of side %d is lost:\n%s", s.text, k, p.Doc.View())
				}
			}
		}
		for i := range got { // no two say the same that no side wants both
			for j := range got {
				s, x := &got[i], &got[j]
				if i != j && !s.fixed && said[s.norm] == 0 && said[x.norm] == 0 && s.says(x) && !holds(s, x) {
					t.Fatalf("%q and %q say the same:\n%s", s.text, x.text, p.Doc.View())
				}
			}
		}
		for i := range got { // nothing is made up
			s := &got[i]
			if said[s.norm] == 0 && !slices.ContainsFunc(fresh, func(side []statement) bool { return counted(side)[s.norm] > 0 }) {
				t.Fatalf("%q is in no side:\n%s", s.text, p.Doc.View())
			}
		}
	})
}

// What no rule can decide is asked once, and the answer is used if it states
// each rule and nothing else.
func TestUnionAsksWhatMayBeTheSame(t *testing.T) {
	const (
		first  = "Name each removed flag with its replacement."
		second = "A removed flag is named with the flag that takes the place of it, its replacement."
		third  = "Write dates as `2006-01-02`."
	)
	base := "- Say what changed.\n"
	parent, ps := unionOf(t, base, base+"- "+first+"\n", base+"- "+third+"\n- "+second+"\n", base+"- Link the issue.\n")
	byRule, err := combine(parent, ps)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := dense(bodyOf(byRule)), base+"- "+first+"\n- "+third+"\n- "+second+"\n- Link the issue.\n"; got != want {
		t.Fatalf("by rule:\n%s\nwant\n%s", got, want)
	}
	view := byRule.Doc.View()
	for _, c := range []struct{ name, reply, unusable, want string }{
		{"each once", strings.Replace(view, "- "+second+"\n", "", 1), "", strings.Replace(view, "- "+second+"\n", "", 1)},
		{"in other words", strings.Replace(strings.Replace(view, "- "+second+"\n", "", 1), first, "Name each removed flag with the replacement that takes its place.", 1), "",
			strings.Replace(strings.Replace(view, "- "+second+"\n", "", 1), first, "Name each removed flag with the replacement that takes its place.", 1)},
		{"all stay", view, "", view},
		{"a word lost that feedback asked for", strings.Replace(strings.Replace(view, "- "+second+"\n", "", 1), first, "Name each removed flag.", 1), "it drops a rule", view},
		{"a rule dropped", strings.NewReplacer("- "+first+"\n", "", "- "+second+"\n", "").Replace(view), "it drops a rule", view},
		{"another line dropped", strings.NewReplacer("- "+third+"\n", "").Replace(view), "it changes more than the sentences that may say the same", view},
		{"another line changed", strings.Replace(view, third, "Write dates as `02.01.2006`.", 1), "it adds a rule", view},
		{"a rule added", view + "- Sing loudly every morning.\n", "it adds a rule", view},
		{"nothing", "", "its fenced block is empty", view},
	} {
		m := &saying{text: "I merged them.\n```\n" + c.reply + "```\n"}
		u := &Union{Model: m, Proposals: ps}
		p, err := u.Propose(t.Context(), Input{Parent: parent, MaxTokens: 1500, Corpus: []string{"the replacement of the flag is missing"}, Seed: 7})
		if err != nil || !u.Asked || u.Unusable != c.unusable || p.Doc.View() != c.want {
			t.Errorf("%s: %q, %v, want %q:\n%s", c.name, u.Unusable, err, c.unusable, p.Doc.View())
		}
		if !slices.Equal(p.Taught, []string{"c0", "c1", "c2"}) || p.Doc.KernelHash() != parent.KernelHash() {
			t.Errorf("%s: taught by %v", c.name, p.Taught)
		}
		for _, s := range []string{first, second} {
			if n := strings.Count(m.asked.User, s); n != 2 { // in the text, and in its group
				t.Errorf("%s: %q is shown %d times in\n%s", c.name, s, n, m.asked.User)
			}
		}
		if n := strings.Count(m.asked.User, third); n != 1 {
			t.Errorf("%s: %q is like nothing, and shown %d times", c.name, third, n)
		}
	}
}

// unionOfTwo are two proposals that add a sentence each, and the view of their union by rule.
func unionOfTwo(t *testing.T, first, second string) (*skill.Document, []Proposal, string) {
	t.Helper()
	base := "- Say what happened.\n"
	parent, ps := unionOf(t, base, base+"- "+first+"\n", base+"- "+second+"\n")
	byRule, err := combine(parent, ps)
	if err != nil {
		t.Fatal(err)
	}
	return parent, ps, byRule.Doc.View()
}

// Sentences that share few words, and say what one line of feedback asks for, are asked
// about too; an example of a format stands for another one.
func TestUnionAsksWhatAnswersTheSame(t *testing.T) {
	const (
		first  = "Put the length of the outage on a line of its own, like `Duration: 95 min`."
		second = "`Duration: 51 min` (minutes, never hours) follows the impact."
		rule   = "Put `Duration: 95 min` on a line of its own after the impact: minutes, never hours, the length of the outage."
	)
	parent, ps, view := unionOfTwo(t, first, second)
	want := strings.Replace(strings.Replace(view, "- "+second+"\n", "", 1), first, rule, 1)
	m := &saying{text: "One.\n\n```\n" + want + "```\n"}
	for _, c := range []struct {
		feedback []string
		asked    bool
	}{{nil, false}, {[]string{"the duration in minutes: Duration: 95 min", "no names of people", "dates in full"}, true}} {
		u := &Union{Model: m, Proposals: ps}
		p, err := u.Propose(t.Context(), Input{Parent: parent, MaxTokens: 1000, Corpus: c.feedback})
		if err != nil {
			t.Fatal(err)
		}
		if u.Asked != c.asked || u.Unusable != "" {
			t.Errorf("feedback %q: asked %v, unusable %q", c.feedback, u.Asked, u.Unusable)
		}
		if got := p.Doc.View(); c.asked && got != want || !c.asked && got != view {
			t.Errorf("feedback %q:\n%s", c.feedback, got)
		}
	}
}

// A condition may move to the sentence that states the rule for all of them; a value that
// feedback asked for must stand in one of them.
func TestUnionMovesAConditionToItsRule(t *testing.T) {
	const (
		first  = "Write every time as `14:05Z`, 24 hours with a Z, even where the notes use another form; never write am, pm or \"UTC\"."
		second = "Give a timeline as a list; its lines look like `- 14:05Z — what happened`, with a long dash and the time in UTC as two-digit 24-hour time."
		all    = "Write every time in UTC as `14:05Z`, two-digit 24-hour time with a Z, even where the notes use another form; never write am, pm or \"UTC\"."
		rest   = "Give a timeline as a list; its lines look like `- 14:05Z — what happened`, with a long dash."
	)
	parent, ps, view := unionOfTwo(t, first, second)
	merged := strings.NewReplacer(first, all, second, rest).Replace(view)
	for _, c := range []struct{ name, reply, unusable, want string }{
		{"moved", merged, "", merged},
		{"lost", strings.Replace(merged, "two-digit 24-hour time with a Z", "with a Z", 1), "it drops a rule", view},
	} {
		u := &Union{Model: &saying{text: "One.\n```\n" + c.reply + "```\n"}, Proposals: ps}
		p, err := u.Propose(t.Context(), Input{Parent: parent, MaxTokens: 1500, Seed: 7, Corpus: []string{
			"times are written 14:05Z, 24 hours with a Z, not am/pm and not UTC", "lines of the timeline look like - 14:05Z — what happened, with a long dash"}})
		if err != nil || !u.Asked || u.Unusable != c.unusable || p.Doc.View() != c.want {
			t.Errorf("%s: asked %t, %q, %v:\n%s", c.name, u.Asked, u.Unusable, err, p.Doc.View())
		}
	}
}

// No call is spent if no sentences may be the same.
func TestUnionAsksNothingForNothing(t *testing.T) {
	base := "- Say what changed.\n"
	for _, sides := range [][]string{
		{base + "- Label the value axis.\n", base + "- Link the issue number.\n"},
		{base + "- Link the issue number.\n", base + "- Link the issue number, people ask for it.\n"}, // by rule
		{base + "- Link the issue number.\n- Link numbers of issues below.\n", base + "- Be kind.\n"}, // one side wants both
	} {
		parent, ps := unionOf(t, base, sides...)
		m := &saying{text: "```\n- a\n```\n"}
		u := &Union{Model: m, Proposals: ps}
		if _, err := u.Propose(t.Context(), Input{Parent: parent}); err != nil || m.asked.User != "" || u.Asked {
			t.Errorf("%q: %v, asked\n%s", sides, err, m.asked.User)
		}
	}
}

// A union is the same in every run, or a resumed search would go another way.
func TestUnionFindsTheFirst(t *testing.T) {
	u := newUnion("- One.\n- Two.\n- Three.\n- Four.\n", "- One.\n- Two.\n- Three.\n- Four.\n", nil)
	said := statementsOf("- Label the axes.\n")[0]
	for n := range u.blocks {
		u.own[n] = []statement{said}
	}
	for range 100 {
		if n, ok := u.find(said.norm); n != 0 || !ok {
			t.Fatalf("found behind block %d, %t", n, ok)
		}
	}
}
