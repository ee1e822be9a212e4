package harvest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

// notes is a Memory for the length of a test.
type notes struct {
	mu   sync.Mutex
	kept map[string][]byte
	of   []string // sessions
}

func (n *notes) Recall(_ context.Context, key string) ([]byte, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.kept[key], nil
}

func (n *notes) Remember(_ context.Context, session, key string, answer []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.kept == nil {
		n.kept = map[string][]byte{}
	}
	n.kept[key] = answer
	n.of = append(n.of, session)
	return nil
}

func german(id string) *Session {
	return at(session("!Zeichne data/revenue.csv als Diagramm => Gezeichnet, mit linearer Skala.",
		"nein, bitte logarithmisch => Jetzt mit logarithmischer Skala."), id, 0)
}

func labels(list string) string { return "```json\n{\"labels\":[" + list + "]}\n```" }

func TestOpaque(t *testing.T) {
	long := strings.Repeat("and then the page shows the table of files ", 6)
	for text, want := range map[string]bool{
		"nein, bitte logarithmisch": true, "das stimmt nicht": true, "was soll das": true, "está mal": true, "не то": true, "違います": true, "danke": true,
		"nee dat klopt niet": true, "non, pas comme ça": true, "/dataviz nein, blau": true, long: true,
		"": false, "1": false, "ok": false, "run the linter": false, "Write a parser for the config file": false, "/review": false, "a.go": false,
		"now do the same for costs": false, "```\nnein\n```": false, "/tmp/out.log": false, "and the costs?": false,
	} {
		if got := opaque(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Replies of the model, and which of their labels are accepted.
func TestLabel(t *testing.T) {
	for name, c := range map[string]struct {
		model oracle
		want  string // label and turn
		bad   int    // unusable
	}{
		"corrected":            {oracle{reply: labels(`{"use":1,"label":"corrected","reply":1,"evidence":"bitte logarithmisch"}`)}, "corrected 1", 0},
		"accepted":             {oracle{reply: labels(`{"use":1,"label":"accepted","reply":1,"evidence":"bitte"}`)}, "accepted 1", 0},
		"unknown":              {oracle{reply: labels(`{"use":1,"label":"unknown"}`)}, "unknown 0", 0},
		"invented evidence":    {oracle{reply: labels(`{"use":1,"label":"corrected","reply":1,"evidence":"falsch"}`)}, "unknown 0", 1},
		"translated evidence":  {oracle{reply: labels(`{"use":1,"label":"corrected","reply":1,"evidence":"no, logarithmic please"}`)}, "unknown 0", 1},
		"the agent's evidence": {oracle{reply: labels(`{"use":1,"label":"corrected","reply":1,"evidence":"mit linearer Skala"}`)}, "unknown 0", 1},
		"no evidence":          {oracle{reply: labels(`{"use":1,"label":"corrected","reply":1}`)}, "unknown 0", 1},
		"blank evidence":       {oracle{reply: labels(`{"use":1,"label":"corrected","reply":1,"evidence":" "}`)}, "unknown 0", 1},
		"no such reply":        {oracle{reply: labels(`{"use":1,"label":"corrected","reply":2,"evidence":"nein"}`)}, "unknown 0", 1},
		"no such use":          {oracle{reply: labels(`{"use":2,"label":"corrected","reply":1,"evidence":"nein"}`)}, "unknown 0", 1},
		"two labels":           {oracle{reply: labels(`{"use":1,"label":"unknown"},{"use":1,"label":"corrected","reply":1,"evidence":"nein"}`)}, "unknown 0", 1},
		"no such label":        {oracle{reply: labels(`{"use":1,"label":"abandoned","reply":1,"evidence":"nein"}`)}, "unknown 0", 1},
		"smuggled":             {oracle{reply: labels(`{"use":1,"label":"unusable"}`)}, "unknown 0", 1},
		"another field":        {oracle{reply: labels(`{"use":1,"label":"corrected","reply":1,"evidence":"nein","confidence":1}`)}, "unknown 0", 1},
		"nothing":              {oracle{reply: labels(``)}, "unknown 0", 1},
		"no fence":             {oracle{reply: `{"labels":[]}`}, "unknown 0", 1},
		"cut off":              {oracle{reply: labels(`{"use":1,"label":"corrected","reply":1,"evidence":"nein"}`), finish: "length"}, "unknown 0", 1},
	} {
		t.Run(name, func(t *testing.T) {
			s, memory := german("s1"), new(notes)
			for run := range 2 { // the second run pays nothing, whatever the first brought
				l := Labeller{Model: &c.model, Memory: memory}
				if run == 1 {
					s = german("s1") // read again: the labels of the session itself are gone
				}
				stats, err := l.Label(t.Context(), []*Session{s}, "dataviz")
				f := s.Invocations[0].Feedback
				if got := fmt.Sprintf("%s %d", f.Label, f.Turn); err != nil || got != c.want {
					t.Errorf("%s, %v; want %s", got, err, c.want)
				}
				if (f.By == "model") != (f.Label != Unknown) || f.Label != Unknown && f.Confidence != .7 {
					t.Errorf("%+v", f)
				}
				if stats.LabelsUnusable != c.bad || stats.LabelCalls != 1-run {
					t.Errorf("run %d: %+v", run, stats)
				}
			}
			if len(c.model.seen) != 1 || len(memory.of) != 1 || memory.of[0] != "s1" {
				t.Errorf("asked %d times, remembered of %v", len(c.model.seen), memory.of)
			}
		})
	}
}

// Nobody is asked what the lexicon knows, or cannot be opaque.
func TestLabelAsksLittle(t *testing.T) {
	sub := german("s2")
	sub.Subagent = "a"
	failed := german("s3")
	failed.Invocations[0].Failed = true
	for _, s := range []*Session{corrected("s1"), sub, failed,
		at(session("!Make a chart of revenue => done", "Write a parser for the configuration format => written", "nein, falsch"), "s4", 0),
		at(session("!Make a chart of revenue => done", "1 => ok"), "s5", 0),
		at(session("!Make a chart of revenue => done"), "s6", 0)} {
		var m oracle
		l := Labeller{Model: &m}
		if stats, err := l.Label(t.Context(), []*Session{s}, "dataviz"); err != nil || stats != (LabelStats{}) || len(m.seen) > 0 {
			t.Errorf("%s: %+v, %v, %d prompts", s.ID, stats, err, len(m.seen))
		}
	}
}

// Many uses are few calls, and what a user wrote stays data in them.
func TestLabelBatches(t *testing.T) {
	m := oracle{reply: labels(`{"use":1,"label":"corrected","reply":1,"evidence":"nein"},{"use":6,"label":"accepted","reply":1,"evidence":"nein, bitte"}`)}
	var all []*Session
	for i := range 8 {
		s := german(fmt.Sprint("s", i))
		s.Turns[1].Prompt += "\n```\nmein Passwort: https://bob:hunter2secret@example.com/x"
		all = append(all, s)
	}
	saved := 0
	l := Labeller{Model: &m, Memory: new(notes), Save: func(context.Context, *Session) error { saved++; return nil }}
	stats, err := l.Label(t.Context(), all, "dataviz")
	// The second call is about two uses: a reply that speaks of a sixth is none.
	if err != nil || stats != (LabelStats{LabelCalls: 2, Labelled: 2, LabelsUnusable: 6}) || saved != 2 {
		t.Errorf("%+v, %v, saved %d", stats, err, saved)
	}
	if a, b := all[0].Invocations[0].Feedback.Label, all[5].Invocations[0].Feedback.Label; a != Corrected || b != Accepted {
		t.Errorf("%s, %s", a, b)
	}
	if len(m.seen) != 2 || strings.Contains(m.seen[0].User, "hunter2secret") || strings.Count(m.seen[0].User, "\n```") > 0 {
		t.Errorf("%d prompts, the first %s", len(m.seen), m.seen[0].User)
	}
}

// A model that fails has said nothing: it is asked again next time.
func TestLabelModelFails(t *testing.T) {
	memory := new(notes)
	l := Labeller{Model: &oracle{err: errors.New("503")}, Memory: memory}
	if stats, err := l.Label(t.Context(), []*Session{german("s1")}, "dataviz"); err != nil || stats.LabelCalls != 1 || len(memory.of) != 0 {
		t.Errorf("%+v, %v, remembered %v", stats, err, memory.of)
	}
	l.Model = &oracle{err: &eval.BudgetError{}}
	_, err := l.Label(t.Context(), []*Session{german("s1")}, "dataviz")
	if _, spent := errors.AsType[*eval.BudgetError](err); !spent {
		t.Errorf("%v", err)
	}
}

// What the model read becomes a case, and stays when the session is assessed
// again; a label that the session does not bear out is dropped.
func TestMineLabelled(t *testing.T) {
	m := oracle{reply: labels(`{"use":1,"label":"corrected","reply":1,"evidence":"bitte logarithmisch"}`)}
	s := german("s1")
	cases, stats := mine(t, Miner{Labeller: &Labeller{Model: &m}}, s)
	if len(cases) != 1 || stats.Corrected != 1 || stats.Labelled != 1 || stats.LabelCalls != 1 || stats.ModelCalls != 0 {
		t.Fatalf("%d cases, %+v", len(cases), stats)
	}
	if !strings.Contains(cases[0].Checks[0].Rubric, "nein, bitte logarithmisch") || cases[0].Source.Outcome != "corrected" {
		t.Errorf("%+v", cases[0])
	}
	if Assess(s); s.Invocations[0].Feedback.Label != Corrected {
		t.Errorf("assessed again: %+v", s.Invocations[0].Feedback)
	}
	if _, stats := mine(t, Miner{Existing: cases}, s); stats.Known != 1 {
		t.Errorf("%+v", stats)
	}
	s.Turns[1].Prompt = "Danke!"
	if Assess(s); s.Invocations[0].Feedback.Label != Unknown || s.Invocations[0].Feedback.By != "" {
		t.Errorf("the words are gone, the label is not: %+v", s.Invocations[0].Feedback)
	}
}

// Nobody pays twice for a reply that cannot be used; another model may try.
func TestMineRemembersFailures(t *testing.T) {
	memory := new(notes)
	m := oracle{reply: "I cannot do that."}
	for run, calls := range []int{1, 0, 0} {
		cases, stats := mine(t, Miner{Model: &m, Memory: memory}, corrected("s1"))
		why := "failed before"
		if run == 0 {
			why = "reply unusable"
		}
		if len(cases) != 1 || stats.ModelCalls != calls || stats.Fallbacks[why] != 1 {
			t.Errorf("run %d: %+v", run, stats)
		}
	}
	if len(m.seen) != 1 || len(memory.of) != 1 || memory.of[0] != "s1" {
		t.Errorf("asked %d times, remembered of %v", len(m.seen), memory.of)
	}
	if _, stats := mine(t, Miner{Model: &scholar{}, Memory: memory}, corrected("s1")); stats.ModelCalls != 1 {
		t.Errorf("another model was not asked: %+v", stats)
	}
	infra := new(notes)
	mine(t, Miner{Model: &oracle{err: errors.New("503")}, Memory: infra}, corrected("s1"))
	if len(infra.of) > 0 {
		t.Error("a model that did not answer is taken for one that cannot")
	}
}

// scholar is another model than oracle.
type scholar struct{ oracle }

func (*scholar) Identity() eval.Identity { return eval.Identity{Backend: "scholar"} }

func FuzzLabels(f *testing.F) {
	f.Add(labels(`{"use":1,"label":"corrected","reply":1,"evidence":"nein"}`), 1)
	f.Add(labels(`{"use":-1,"label":"accepted","reply":99999}`), 3)
	f.Add("```json\n{}\n```", 0)
	f.Fuzz(func(t *testing.T, text string, uses int) {
		if uses < 0 || uses > 100 {
			return
		}
		got, err := parseLabels(text, uses)
		if err != nil && got != nil {
			t.Errorf("labels %v with error %v", got, err)
		}
		s := german("s")
		q := questions(s, "dataviz")[0]
		for _, r := range got {
			if r.Use < 1 || r.Use > uses {
				t.Errorf("use %d of %d", r.Use, uses)
			}
			if f, ok := q.feedback(r); ok && !strings.Contains(s.Turns[f.Turn].Prompt, f.Evidence) {
				t.Errorf("%+v was believed", f)
			}
		}
	})
}
