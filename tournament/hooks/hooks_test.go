package hooks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/hooks"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// A text of these tests is a script whose lines "block WORD" name what it stops; it is
// played without a shell.
const head = "#!/bin/sh\n# kernel\nin=$(cat)\n# /kernel\n"

func text(words ...string) string {
	var b strings.Builder
	b.WriteString(head)
	for _, w := range words {
		fmt.Fprintf(&b, "case $in in *%s*) exit 2 ;; esac\n", w)
	}
	return b.String()
}

// A playing counts which texts ran.
type playing struct{ ran map[string]int }

func (p *playing) play(_ context.Context, script []byte, sessions []hooks.Session) ([][]guard.Answer, error) {
	p.ran[string(script)]++
	if strings.Contains(string(script), "kills") {
		return nil, errors.New("2 of 3 have an answer")
	}
	out := make([][]guard.Answer, len(sessions))
	for i := range sessions {
		for _, e := range sessions[i].Events {
			a := guard.Answer{Decision: guard.GoOn, Millis: [2]float64{1, 1}, CPU: 1}
			for _, line := range strings.Split(string(script), "\n") {
				_, word, _ := strings.Cut(line, "*")
				word, _, ok := strings.Cut(word, "*)")
				if ok && strings.Contains(string(e.Input), word) {
					a.Decision = guard.Block
				}
			}
			if strings.Contains(string(script), "counts") {
				a.Second = "changed home/count"
			}
			if strings.Contains(string(script), "sleeps") {
				a = guard.Answer{Decision: guard.GoOn, Late: true}
			}
			out[i] = append(out[i], a)
		}
	}
	return out, nil
}

// A model replies with texts in order, and keeps what it was asked.
type model struct {
	replies []string
	asked   []eval.Prompt
}

func (m *model) Identity() eval.Identity { return eval.Identity{Backend: "scripted", Simulated: true} }

func (m *model) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	m.asked = append(m.asked, p)
	reply := m.replies[min(len(m.asked), len(m.replies))-1]
	return eval.Completion{Text: "It does more.\n\n```sh\n" + reply + "```\n"}, nil
}

func doc(t testing.TB, script string) *skill.Document {
	t.Helper()
	d, err := skill.Parse([]byte(script), skill.Options{Script: "x.sh"})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func event(command string, label guard.Label) hooks.Event {
	in, err := json.Marshal(map[string]any{"tool_name": "Bash", "tool_input": map[string]string{"command": command}})
	if err != nil {
		panic(err)
	}
	return hooks.Event{Event: guard.Event{Name: "PreToolUse", Input: in}, Label: label, Ran: label == guard.Unlabelled,
		Shown: &mutate.Call{Tool: "Bash", Input: string(in), Words: "never so"}}
}

// sessions are n with a call to stop and one that had permission.
func sessions(n int) (out []hooks.Session) {
	for i := range n {
		out = append(out, hooks.Session{ID: fmt.Sprintf("claude/%02d", i), Time: time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC),
			Events: []hooks.Event{event("push --force", guard.Stop), event("commit", guard.Go), event("log", guard.Unlabelled)}})
	}
	return out
}

func engine(m eval.Model, p *playing) (*hooks.Engine, *recordtest.Memory) {
	j := new(recordtest.Memory)
	return &hooks.Engine{Play: p.play, Mutator: m, Log: &record.Log{Journal: j, Run: "r", Now: time.Now},
		Options: hooks.Options{Calls: 6, Patience: 6, Weight: 5, Event: "PreToolUse"}}, j
}

func TestSearchFindsWhatDecidesBetter(t *testing.T) {
	p := &playing{map[string]int{}}
	m := &model{replies: []string{text("force", "commit"), text("nothing"), text("force")}}
	e, _ := engine(m, p)
	root := doc(t, text("commit"))
	found, err := e.Search(t.Context(), root, sessions(9))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(found.Best.Doc.Render()); got != text("force") {
		t.Errorf("best:\n%s", got)
	}
	if found.Calls != 3 || found.Stop != "it decides all of them right" {
		t.Errorf("%d calls, %s", found.Calls, found.Stop)
	}
	was, is := found.Score(found.Root), found.Score(found.Best)
	if was.Stopped != 0 || was.Wrong != 9 || is.Stopped != 9 || is.Wrong != 0 || is.Ran != 9 {
		t.Errorf("%+v → %+v", was, is)
	}
	for _, want := range []string{"in=$(cat)", "should have blocked", "its user had permitted", "never so", "stay below 40"} {
		if !strings.Contains(m.asked[0].User, want) {
			t.Errorf("the prompt lacks %q:\n%s", want, m.asked[0].User)
		}
	}
}

// What stops less than the owner's text is no guard, however much it no longer gets wrong.
func TestSearchKeepsWhatStops(t *testing.T) {
	p := &playing{map[string]int{}}
	e, _ := engine(&model{replies: []string{text("nothing")}}, p)
	found, err := e.Search(t.Context(), doc(t, text("force", "commit")), sessions(9))
	if err != nil {
		t.Fatal(err)
	}
	if found.Best != found.Root || found.Calls != 6 {
		t.Errorf("best %s after %d calls", found.Best.Doc.Render(), found.Calls)
	}
}

// No text runs that changes the kernel, that is too long, or that is another program.
func TestRefusedTextsDoNotRun(t *testing.T) {
	for name, bad := range map[string]string{
		"kernel": strings.Replace(text("force"), "in=$(cat)", "in=$(cat; true)", 1),
		"long":   text("force") + strings.Repeat("# more\n", 120),
		"curl":   text("force") + "curl https://example.invalid\n",
		"syntax": text("force") + "if\n",
	} {
		t.Run(name, func(t *testing.T) {
			p := &playing{map[string]int{}}
			e, _ := engine(&model{replies: []string{bad}}, p)
			e.Options.Calls = 1
			found, err := e.Search(t.Context(), doc(t, text("commit")), sessions(6))
			if err != nil {
				t.Fatal(err)
			}
			if p.ran[bad] > 0 || found.Best != found.Root || found.Invalid+len(found.Held) != 1 {
				t.Errorf("it ran %d times; %d invalid, %d held", p.ran[bad], found.Invalid, len(found.Held))
			}
		})
	}
}

func TestSecondDelivery(t *testing.T) {
	p := &playing{map[string]int{}}
	e, _ := engine(&model{replies: []string{text("force") + "# counts\n"}}, p)
	found, err := e.Search(t.Context(), doc(t, text("commit")), sessions(6))
	if err != nil {
		t.Fatal(err)
	}
	if found.Best != found.Root || found.Invalid == 0 {
		t.Errorf("a text is taken that changes something when it is asked again: %s", found.Best.Doc.Render())
	}
}

// A text that ends what plays it ends no search.
func TestUnplayableText(t *testing.T) {
	e, j := engine(&model{replies: []string{text("force") + "# kills\n", text("force")}}, &playing{map[string]int{}})
	found, err := e.Search(t.Context(), doc(t, text("commit")), sessions(6))
	if err != nil {
		t.Fatal(err)
	}
	if string(found.Best.Doc.Render()) != text("force") || found.Invalid != 1 {
		t.Errorf("%d invalid, best:\n%s", found.Invalid, found.Best.Doc.Render())
	}
	if c := j.Candidates[1]; c.State != record.Invalid || !strings.Contains(c.Reason, "could not be replayed") {
		t.Errorf("%s: %s", c.State, c.Reason)
	}
}

func TestSearchIsAFunctionOfItsSeed(t *testing.T) {
	var asked [2][]eval.Prompt
	for i := range asked {
		m := &model{replies: []string{text("forc"), text("for"), text("fo"), text("commit", "f")}}
		e, _ := engine(m, &playing{map[string]int{}})
		e.Options.Seed = 7
		if _, err := e.Search(t.Context(), doc(t, text("commit")), sessions(12)); err != nil {
			t.Fatal(err)
		}
		asked[i] = m.asked
	}
	if !slices.EqualFunc(asked[0], asked[1], func(a, b eval.Prompt) bool { return a.User == b.User && a.Seed == b.Seed }) {
		t.Error("two searches with one seed asked different things")
	}
}

func try(t testing.TB, e *hooks.Engine, old, next string, all []hooks.Session) *hooks.Trial {
	t.Helper()
	v, err := e.Try(t.Context(), "hook:~:x.sh", doc(t, old), doc(t, next), all, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTrial(t *testing.T) {
	for name, c := range map[string]struct {
		old, next string
		n         int
		want      pareto.Verdict
	}{
		"better":                              {text("commit"), text("force"), 12, pareto.Promote},
		"too few":                             {text("nothing"), text("force"), 3, pareto.Undecided},
		"promising":                           {text("nothing"), text("force"), 5, pareto.Promising},
		"the same":                            {text("force"), text("push"), 12, pareto.Reject}, // no hope of a gain
		"stops more, also what was permitted": {text("nothing"), text("force", "commit"), 30, pareto.Reject},
		"stops less":                          {text("force", "commit"), text("nothing"), 30, pareto.Reject},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := engine(nil, &playing{map[string]int{}})
			if v := try(t, e, c.old, c.next, sessions(c.n)); v.Decision.Verdict != c.want {
				t.Errorf("%s: %s (e = %.1f after %d)", v.Decision.Verdict, v.Reason, v.EValue, v.Cases)
			}
		})
	}
}

// A session is heard once, in whichever run, and never by two texts.
func TestTrialGoesOn(t *testing.T) {
	e, j := engine(nil, &playing{map[string]int{}})
	all := sessions(12)
	if v := try(t, e, text("nothing"), text("force"), all[:3]); v.Cases != 3 {
		t.Fatalf("%d cases", v.Cases)
	}
	e.Log = &record.Log{Journal: j, Run: "r2", Now: time.Now}
	v := try(t, e, text("nothing"), text("force"), all[:5])
	if v.Cases != 5 || v.Fresh != 2 {
		t.Errorf("%d cases, %d of them new; want 5 and 2", v.Cases, v.Fresh)
	}
	if _, err := e.Try(t.Context(), "hook:~:x.sh", doc(t, text("nothing")), doc(t, text("push")), all[:5], 0.5); err == nil {
		t.Error("sessions that were heard in one trial are heard in another")
	}
}

// Texts that differ by luck alone are proved in at most 5 % of trials, looked at after every
// session.
func TestNoGainIsRarelyProved(t *testing.T) {
	const lives, n = 400, 40
	r := rand.New(rand.NewPCG(1, 2))
	proved := 0
	for range lives {
		all := sessions(n)
		for i := range all {
			command := []string{"push --force", "push --mirror", "push --delete"}[r.IntN(3)] // one text stops the first, the other the second
			all[i].Events = []hooks.Event{event(command, guard.Stop)}
		}
		e, _ := engine(nil, &playing{map[string]int{}})
		if try(t, e, text("force"), text("mirror"), all).Decision.Verdict == pareto.Promote {
			proved++
		}
	}
	if proved > lives/20 {
		t.Errorf("%d of %d trials without a gain are proved", proved, lives)
	}
	t.Logf("%d of %d trials without a gain are proved", proved, lives)
}

// Sessions that come after the evidence is enough can still refute a text.
func TestTrialLooksAtAll(t *testing.T) {
	all := sessions(20)
	for i := range all {
		all[i].Events = []hooks.Event{event([]string{"push --force", "push --mirror"}[min(i/10, 1)], guard.Stop)}
	}
	all[0].Events = append(all[0].Events, event("push --force", guard.Stop)) // the new text stops more
	e, _ := engine(nil, &playing{map[string]int{}})
	v := try(t, e, text("mirror"), text("force"), all)
	if v.Decision.Verdict != pareto.Reject || v.Better != 10 || v.Worse != 10 || v.RestWorse != 10 {
		t.Errorf("%s: %+v", v.Decision.Verdict, v)
	}
	if v.Reason != "it is better in 10 and worse in 10 sessions" {
		t.Error(v.Reason)
	}
}

// A text that stops another permitted call than the old one does so anew, in the same session too.
func TestTrialRejectsAnotherWrongBlock(t *testing.T) {
	all := sessions(12)
	for i := range all {
		all[i].Events = append(all[i].Events, event("tag", guard.Go))
	}
	e, j := engine(nil, &playing{map[string]int{}})
	v := try(t, e, text("commit"), text("force", "tag"), all)
	if v.Decision.Verdict != pareto.Reject || v.Wrong != 12 {
		t.Errorf("%s, %d wrong: %s", v.Decision.Verdict, v.Wrong, v.Reason)
	}
	e.Log = &record.Log{Journal: j, Run: "later", Now: time.Now}
	if v := try(t, e, text("commit"), text("force", "tag"), sessions(30)[12:]); v.Decision.Verdict != pareto.Reject {
		t.Errorf("%s after it was rejected", v.Decision.Verdict)
	}
}

// A new text that hangs wins no session by it, and where the old one is right it loses.
func TestTrialHearsANewTextThatHangs(t *testing.T) {
	for _, c := range []struct {
		old          string
		wins, losses int
	}{{text("commit"), 0, 0}, {text("force"), 0, 6}} { // the first blocks what was permitted, which a text that hangs does not
		e, _ := engine(nil, &playing{map[string]int{}})
		v := try(t, e, c.old, text("force")+"# sleeps\n", sessions(6))
		if v.Better != c.wins || v.Worse != c.losses || v.Decision.Verdict == pareto.Promote {
			t.Errorf("better in %d, worse in %d: %s", v.Better, v.Worse, v.Decision.Verdict)
		}
	}
}

// An old text that did not end in time decided nothing. That is no evidence for the new one, because
// the old one may have ended in time on a less busy machine.
func TestTrialPassesOverLateAnswers(t *testing.T) {
	e, j := engine(nil, &playing{map[string]int{}})
	v := try(t, e, text("force")+"# sleeps\n", text("force"), sessions(12))
	if v.Cases != 0 || !v.Decision.Verdict.IsOpen() || v.Old.Late != 36 || v.Old.Events != 36 {
		t.Errorf("%s after %d cases, %d of %d events late", v.Decision.Verdict, v.Cases, v.Old.Late, v.Old.Events)
	}
	if spent, err := j.SpentCases(t.Context(), "hook:~:x.sh"); err != nil || len(spent.By) > 0 {
		t.Errorf("%v, %v", spent, err)
	}
}

// The cases of a hook's author are searched in, and are not among the figures of sessions.
func TestScoreOfOwnCases(t *testing.T) {
	e, _ := engine(&model{replies: []string{text("force")}}, &playing{map[string]int{}})
	own := hooks.Session{ID: hooks.OwnCase + "a", Events: []hooks.Event{event("push --force", guard.Stop)}}
	found, err := e.Search(t.Context(), doc(t, text("nothing")), append([]hooks.Session{own}, sessions(3)...))
	if err != nil {
		t.Fatal(err)
	}
	if s := found.Score(found.Best); s.Stop != 3 || s.Stopped != 3 || s.OwnStop != 1 || s.OwnStopped != 1 {
		t.Errorf("%+v", s)
	}
}

// A text that its owner has rejected does not run again.
func TestSearchLeavesRejectedTexts(t *testing.T) {
	p := &playing{map[string]int{}}
	e, _ := engine(&model{replies: []string{text("force")}}, p)
	e.Options.Rejected = []string{doc(t, text("force")).Hash()}
	found, err := e.Search(t.Context(), doc(t, text("commit")), sessions(6))
	if err != nil {
		t.Fatal(err)
	}
	if p.ran[text("force")] > 0 || found.Best != found.Root {
		t.Error("a rejected text was tried")
	}
}
