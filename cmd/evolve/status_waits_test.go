package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/sleep"
	"github.com/skill-evolve/evolve/tournament/status"
)

// A waitingRoom is a home with skills that wait for their owner.
type waitingRoom struct {
	t   *testing.T
	a   *global
	db  *store.Store
	env map[string]string
}

func newWaitingRoom(t *testing.T, names ...string) *waitingRoom {
	dir := t.TempDir()
	w := &waitingRoom{t: t, a: newGlobal(strings.NewReader(""), new(bytes.Buffer), new(bytes.Buffer)),
		env: map[string]string{"EVOLVE_HOME": filepath.Join(dir, "data"), "CLAUDE_CONFIG_DIR": filepath.Join(dir, "claude")}}
	w.a.Getenv = func(k string) string { return w.env[k] }
	t.Cleanup(func() { w.a.close() })
	var err error
	w.db, err = w.a.store(t.Context())
	w.must(err)
	for _, name := range names {
		path := filepath.Join(dir, "claude", "skills", name, skill.FileName)
		w.must(os.MkdirAll(filepath.Dir(path), 0o700))
		w.must(os.WriteFile(path, []byte(w.text(name)), 0o600))
		h := w.house(name)
		h.look()
		w.must(h.err)
	}
	return w
}

func (w *waitingRoom) text(name string) string { return swap(tablesText, "tables", name) }

func (w *waitingRoom) house(name string) *house {
	return &house{ctx: w.t.Context(), a: w.a, db: w.db, name: name, text: w.text(name)}
}

func (w *waitingRoom) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// judged gives a skill held-out cases that a judge alone decides.
func (w *waitingRoom) judged(name string, n int) {
	w.t.Helper()
	var cases []eval.Case
	for i := range n {
		id := fmt.Sprint("judged-", i)
		cases = append(cases, eval.Case{ID: id, Skill: name, Cluster: id, Split: eval.Test, Prompt: "do " + id, Checks: []eval.Check{{Type: eval.Judge, Rubric: "It is right."}}})
	}
	_, _, err := w.db.SaveCases(w.t.Context(), cases)
	w.must(err)
}

// reviews are the owner's choices between two answers to cases of their own.
func (w *waitingRoom) reviews(name string, from, to int) {
	w.t.Helper()
	for i := from; i < to; i++ {
		id := fmt.Sprint(name, "-label-", i)
		_, _, err := w.db.SaveCases(w.t.Context(), []eval.Case{{ID: id, Skill: name, Cluster: id, Split: eval.Train, Prompt: "do " + id, Checks: []eval.Check{{Type: eval.Judge, Rubric: "It is right."}}}})
		w.must(err)
		for _, answer := range []string{"right", "wrong"} {
			w.must(w.db.Journal("r").SaveRollout(w.t.Context(), &eval.Rollout{Key: id + answer, CaseID: id, Candidate: answer, Status: eval.Done, Answer: answer}))
		}
		w.must(w.db.SaveLabel(w.t.Context(), store.Label{Skill: name, CaseID: id, First: skill.HashText([]byte("right")), Second: skill.HashText([]byte("wrong")), Choice: store.FirstBetter}))
	}
}

// open brings two answers to one request, which their owner has not chosen between.
func (w *waitingRoom) open(name string) {
	w.t.Helper()
	id := name + "-open"
	_, _, err := w.db.SaveCases(w.t.Context(), []eval.Case{{ID: id, Skill: name, Cluster: id, Split: eval.Train, Prompt: "do " + id, Checks: []eval.Check{{Type: eval.Judge, Rubric: "It is right."}}}})
	w.must(err)
	for _, answer := range []string{"one", "other"} {
		w.must(w.db.Journal("r").SaveRollout(w.t.Context(), &eval.Rollout{Key: id + answer, CaseID: id, Candidate: answer, Status: eval.Done, Answer: answer}))
	}
}

// night keeps a night with these steps.
func (w *waitingRoom) night(caps sleep.Caps, steps ...sleep.Step) {
	w.t.Helper()
	ctx := w.t.Context()
	lease, err := w.db.TakeSleepLease(ctx, "test", day1, day1.Add(time.Hour), nil)
	w.must(err)
	w.must(sleep.Stored(w.db).SaveNight(ctx, &sleep.Night{Schema: 1, ID: "20261120-031700-1", Policy: sleep.Staging, Caps: caps, Began: day1, Ended: day1.Add(time.Hour), Settled: true, Generation: lease.Generation, Steps: steps}))
	w.must(w.db.ReleaseSleepLease(ctx, lease))
}

// status is the status of a skill, and the page.
func (w *waitingRoom) status(name string) (s *status.Skill, page string) {
	w.t.Helper()
	r, err := gatherStatus(w.t.Context(), w.a)
	w.must(err)
	for i := range r.Skills {
		if r.Skills[i].Skill == name {
			s = &r.Skills[i]
		}
	}
	if s == nil {
		w.t.Fatalf("no %s in %+v", name, r.Skills)
	}
	for _, width := range []int{40, 80} {
		page = r.Text(width, true)
		for line := range strings.Lines(page) {
			if line = strings.TrimSuffix(line, "\n"); plain.Width(line) > width && !strings.HasSuffix(line, "`") {
				w.t.Errorf("%d columns: %q", width, line)
			}
		}
	}
	return s, page
}

func (w *waitingRoom) waits(name, command, text string) {
	w.t.Helper()
	s, page := w.status(name)
	want := status.Wait{Text: text, Command: command}
	if !slices.ContainsFunc(s.Waits, func(k status.Wait) bool { return k.Text == want.Text && k.Command == want.Command }) {
		w.t.Errorf("%s waits for %+v, want %+v", name, s.Waits, want)
	}
	if line := "  → `" + command + "`: " + text + "\n"; !strings.Contains(page, line) {
		w.t.Errorf("the page does not have %q:\n%s", line, page)
	}
}

func (w *waitingRoom) nothing(name string) {
	w.t.Helper()
	if s, _ := w.status(name); len(s.Waits) > 0 {
		w.t.Errorf("%s waits for %+v", name, s.Waits)
	}
}

// TestStatusNamesLabels: a trial all of whose cases rest on a judge that nothing
// confirms waits for its owner's labels; one that has another case does not, nor one
// whose judge can be asked about labels first.
func TestStatusNamesLabels(t *testing.T) {
	w := newWaitingRoom(t, "tables")
	h := w.house("tables")
	h.challenger(pareto.Undecided, record.Finished, 6)
	w.must(h.err)
	w.nothing("tables")
	w.judged("tables", 7)
	w.nothing("tables") // there are no two answers to choose between
	w.open("tables")
	const rest = " missing: 7 cases wait for the judge"
	const text = "20 reviews" + rest
	w.waits("tables", "evolve review tables", text)
	if s, page := w.status("tables"); s.Waits[0].Kind != "review" || s.Challenger.Unlabelled != 7 || s.Challenger.Reviews != 20 || s.Next != "`evolve review tables`: "+text || !strings.HasSuffix(page, "next: `evolve review tables`: "+text+"\n") {
		t.Errorf("%+v, next %q:\n%s", s.Waits, s.Next, page)
	}
	w.reviews("tables", 0, 19)
	w.waits("tables", "evolve review tables", "1 review"+rest)
	w.reviews("tables", 19, 20)
	w.nothing("tables")
}

// TestStatusNamesNoLabelsWhereChecksDecide: what a judge has a say in is left out
// where that is less than a twentieth of the cases, and the trial waits for no labels.
func TestStatusNamesNoLabelsWhereChecksDecide(t *testing.T) {
	w := newWaitingRoom(t, "tables")
	h := w.house("tables")
	h.challenger(pareto.Undecided, record.Finished, 6)
	w.must(h.err)
	w.judged("tables", 1)
	w.open("tables")
	var plain []eval.Case
	for i := range 20 {
		id := fmt.Sprint("plain", i)
		plain = append(plain, eval.Case{ID: id, Skill: "tables", Cluster: id, Split: eval.Test, Prompt: "do the thing called " + strings.Repeat(string(rune('a'+i)), 9), Checks: []eval.Check{{Type: eval.Contains, Value: "x"}}})
	}
	_, _, err := w.db.SaveCases(t.Context(), plain[1:])
	w.must(err)
	w.waits("tables", "evolve review tables", "20 reviews missing: 20 cases wait for the judge")
	_, _, err = w.db.SaveCases(t.Context(), plain[:1])
	w.must(err)
	w.nothing("tables")
}

// TestStatusOfASingleProof: what is proved as a single trial only is not
// reported as proved; what a night judges at the level of its number can
// still be installed.
func TestStatusOfASingleProof(t *testing.T) {
	w := newWaitingRoom(t, "tables")
	for i := range 20 {
		state, err := json.Marshal(map[string]any{"version": 1, "trial": pareto.NewTrial(pareto.DefaultConfig())})
		w.must(err)
		w.must(w.db.Journal("r").SaveTrial(t.Context(), &record.TrialRecord{Skill: "tables", Incumbent: "older", Challenger: fmt.Sprint("c", i), Run: "r", Decision: pareto.Reject, State: state, Updated: day1}))
	}
	h := w.house("tables")
	h.challenger(pareto.Promote, record.Finished, 0)
	w.must(h.err)
	own := func() *record.TrialRecord {
		trials, err := w.db.Trials(t.Context(), "tables")
		w.must(err)
		return &trials[slices.IndexFunc(trials, func(r record.TrialRecord) bool { return r.Incumbent != "older" })]
	}
	tr := pareto.NewTrial(pareto.DefaultConfig())
	for i := range 54 {
		tr.Add(pareto.Pair{Quality: []float64{0.5, 0, 0}[i%3], Retries: 0.3})
	}
	held := own()
	state, err := json.Marshal(map[string]any{"version": 1, "start": tr, "trial": tr})
	w.must(err)
	held.State = state
	w.must(w.db.Journal(held.Run).SaveTrial(t.Context(), held))

	const text = "better as a single trial, not as trial 21"
	w.waits("tables", "evolve promote tables", text)
	s, page := w.status("tables")
	if !strings.Contains(s.Challenger.Lifetime, " by chance); as trial 21 of tables it takes 1 in ") || !strings.Contains(page, "better as a single trial\n") {
		t.Errorf("%+v:\n%s", s.Challenger, page)
	}
	if want := "`evolve promote tables` installs it at your word, nights go on with fresh cases: " + s.Challenger.Lifetime; s.Next != want {
		t.Errorf("next %q, want %q", s.Next, want)
	}

	held = own()
	changed, err := held.Hold((&record.TrialNumber{Number: 21}).Level())
	w.must(err)
	if !changed || held.Decision != pareto.Promising {
		t.Fatalf("not held: %v, %s", changed, held.Decision)
	}
	w.must(w.db.Journal(held.Run).SaveTrial(t.Context(), held))
	w.waits("tables", "evolve promote tables", text)
}

// TestStatusOfTurns: a search that no night carries needs a larger one, and
// the status gives its size; one that only waits for its turn needs nothing.
func TestStatusOfTurns(t *testing.T) {
	w := newWaitingRoom(t, "large", "later", "edited")
	sha := func(name string) string { return skill.HashText([]byte(w.text(name))) }
	search := sleep.Step{Kind: sleep.Search, Stage: sleep.Waits, Note: "takes about 80 rollouts, 20 are left; 3 of 4 uses corrected"}
	step := func(name, live string, needs int64) sleep.Step {
		s := search
		s.Skill, s.Live, s.Needs = name, live, sleep.Caps{Rollouts: needs}
		return s
	}
	w.night(sleep.Caps{Rollouts: 100}, step("large", sha("large"), 640), step("later", sha("later"), 80), step("edited", "an older text", 640))
	w.waits("large", "evolve sleep run --max-rollouts 640", "takes about 640, a night has 100")
	w.nothing("later")
	w.nothing("edited")
	s, page := w.status("later")
	if s.Turn == nil || s.Turn.Beyond || s.Turn.Needs != 80 || s.Turn.MaxNight != 100 || !strings.Contains(s.Next, "takes about 80 rollouts, 20 are left") {
		t.Errorf("%+v, next %q", s.Turn, s.Next)
	}
	if !strings.Contains(page, "1 skill for a later night: too little was left") {
		t.Errorf("the page:\n%s", page)
	}
	w.must(w.db.Journal("r").SaveRun(t.Context(), &record.Run{ID: "r", Skill: "large", Status: record.Finished, Incumbent: sha("large"), Started: day1.Add(2 * time.Hour)}))
	w.nothing("large")
}

// TestStatusCountsUsesByEitherName: two names for one file are one skill, with the uses
// of both.
func TestStatusCountsUsesByEitherName(t *testing.T) {
	w := newWaitingRoom(t, "labels")
	if err := os.Symlink("labels", filepath.Join(w.env["CLAUDE_CONFIG_DIR"], "skills", "tagger")); err != nil {
		t.Skip("no symlinks here")
	}
	for name, n := range map[string]int{"labels": 6, "tagger": 3} {
		h := w.house(name)
		h.uses(n)
		w.must(h.err)
	}
	r, err := gatherStatus(t.Context(), w.a)
	w.must(err)
	if len(r.Skills) != 1 || r.Skills[0].Uses != 9 || r.Skills[0].Corrected != 3 || !slices.Equal(r.Skills[0].Aliases, []string{"tagger"}) {
		t.Errorf("%+v", r.Skills)
	}
}
