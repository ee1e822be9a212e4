package outgoing

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/store"
)

// A case that a model wrote goes only to whom the text of every case may go that the model
// had seen, and both the plan and the question name all of their projects; also if their
// text has expired, and never after one of them was purged.
func TestWrittenCaseIsOfAllThatWasSeen(t *testing.T) {
	w := newWorld(t, func(w *world, d *consent.Decisions) {
		d.Allow(w.at("shop"))
		d.Allow(w.at("web"), "anthropic")
		d.All = true
		d.Deny(w.at("secret"))
	})
	made := func(id string, also ...string) eval.Case {
		c := eval.Case{ID: id, Skill: "plot", Prompt: id, Split: eval.Train, Checks: []eval.Check{{Type: eval.Contains, Value: "x"}},
			Source: &eval.Source{Agent: "claude-code", Session: "shop", Origin: "generated"}}
		for _, s := range also {
			c.Source.Also = append(c.Source.Also, eval.Source{Agent: "claude-code", Session: s})
		}
		return c
	}
	cases := []eval.Case{made("alone"), made("both", "web"), made("denied", "web", "secret"), made("gone", "nobody")}
	cases[3].Source.Also[0].Agent = "codex"
	stored := append(slices.Clone(cases), w.cases[:3]...)
	for i := range stored {
		stored[i].Checks, stored[i].Split = cases[0].Checks, eval.Train
	}
	if _, _, err := w.db.SaveCases(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	filter := func(when, want string) {
		t.Helper()
		kept, left, err := w.Filter(t.Context(), w.db, asks(map[string]string{agent.Replay: "anthropic"}), agent.Requests, cases)
		if err != nil || ids(kept) != want {
			t.Errorf("%s: kept %s, want %s: %q, %v", when, ids(kept), want, left.Lines(), err)
		}
	}
	filter("at first", "alone both")
	sends, err := w.Forecast(t.Context(), w.db, asks(map[string]string{agent.Replay: "anthropic"}), cases[:2], map[string]int64{agent.Replay: 1})
	if lines := strings.Join(Lines(sends), "\n"); err != nil || !strings.Contains(lines, fmt.Sprintf("of %s (2 cases), %s (1 case)", w.at("shop"), w.at("web"))) {
		t.Errorf("%s, %v", lines, err)
	}
	for id, want := range map[string]string{"alone": "with text of " + w.at("shop"), "both": "with text that may be of " + w.at("shop") + ", " + w.at("web")} {
		shown := ""
		w.Control = &Control{File: w.File, Recorder: w.Recorder, Ask: func(request, _ string) (bool, error) { shown = request; return false, nil }}
		back := asks(map[string]string{agent.Replay: "anthropic"})
		if _, _, err := w.Clear(t.Context(), w.db, back, []string{agent.Replay}, cases); err != nil {
			t.Fatal(err)
		}
		_, err := w.Agent(back.To[agent.Replay], new(echo), nil).Run(t.Context(), eval.Task{Case: &eval.Case{ID: id}})
		if err == nil || !strings.Contains(shown, want+", as it is sent") {
			t.Errorf("%s: asked with %q, %v", id, shown, err)
		}
	}
	// Their texts expire, and the mined cases of the denied project are dropped.
	if err := w.db.DropCase(t.Context(), "plot", "secret"); err != nil {
		t.Fatal(err)
	}
	due := store.Expiry{Sessions: []store.Due{{ID: "secret", Path: "secret", Agent: "claude-code"}, {ID: "shop", Path: "shop", Agent: "claude-code"}}}
	keep := store.Keeping{Case: func(s *harvest.Session, c eval.Case) harvest.Recording { return harvest.RecordingOf(s, &c) }, File: func(string) string { return "" }}
	if err := w.db.Expire(t.Context(), due, keep); err != nil {
		t.Fatal(err)
	}
	filter("after their text has expired", "alone both")
	// A text that a dropped case taught stays that project's.
	teachers, err := w.db.Teachers(t.Context(), "plot", []string{"secret"})
	if err != nil || len(teachers) != 1 {
		t.Fatal(teachers, err)
	}
	back := asks(map[string]string{agent.Replay: "anthropic"})
	if left, err := w.Text(t.Context(), w.db, back, agent.Requests, teachers); err != nil || len(left) == 0 {
		t.Errorf("a text that a denied project taught may be sent: %v", err)
	}
	// The denial of a second one holds for what it is in, and a purge removes that.
	d, err := consent.Read(w.File)
	if err != nil {
		t.Fatal(err)
	}
	d.Deny(w.at("web"))
	if err := d.Write(w.File); err != nil {
		t.Fatal(err)
	}
	filter("after another was denied", "alone")
	if _, err := w.db.PurgeSessions(t.Context(), []string{"web"}); err != nil {
		t.Fatal(err)
	}
	left, err := w.db.Cases(t.Context(), "plot")
	if err != nil || ids(left) != "alone gone shop" {
		t.Errorf("after the purge: %s, %v", ids(left), err)
	}
}
