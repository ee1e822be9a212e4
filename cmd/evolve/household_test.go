package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// household is a program for scripts: it gives its owner so many skills, the
// first few of which are in every state that status tells of, and a night.
func household() {
	n, err := strconv.Atoi(os.Args[1])
	if err == nil {
		err = moveIn(context.Background(), n)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "household:", err)
		os.Exit(1)
	}
}

func moveIn(ctx context.Context, n int) (err error) {
	a := newGlobal(strings.NewReader(""), os.Stdout, os.Stderr)
	defer func() {
		if e := a.close(); err == nil {
			err = e
		}
	}()
	home, err := a.home()
	if err != nil {
		return err
	}
	if err := allowAll(string(home)); err != nil {
		return err
	}
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	dir, err := a.layout().Skills()
	if err != nil {
		return err
	}
	names := []string{"alarmed", "proved", "met", "cut-short", "compared", "held", "on-trial", "a-skill-with-quite-a-long-name", "kept"}
	for k := len(names); k < n; k++ {
		names = append(names, fmt.Sprintf("quiet-%02d", k))
	}
	for k, name := range names[:n] {
		text := swap(tablesText, "tables", name)
		path := filepath.Join(dir, name, skill.FileName)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
		h := &house{ctx: ctx, a: a, db: db, name: name, text: text}
		h.uses(3 * (n - k))
		h.look()
		h.live(path)
		if h.err != nil {
			return fmt.Errorf("%s: %w", name, h.err)
		}
	}
	lease, err := db.TakeSleepLease(ctx, "household", day1, day1.Add(time.Hour), nil)
	if err != nil {
		return err
	}
	night := &sleep.Night{Schema: 1, ID: "20261120-031700-1", Policy: sleep.Auto, Began: day1, Ended: day1.Add(time.Hour), Settled: true,
		Generation: lease.Generation, Steps: []sleep.Step{{Kind: sleep.Search, Skill: "proved", Stage: sleep.Done,
			Spent: eval.Spent{Rollouts: 240, AgentCalls: 240, CostUSD: 0.42, CostKnown: true}}}}
	j := sleep.Stored(db)
	if err := j.SaveNight(ctx, night); err != nil {
		return err
	}
	for _, name := range []string{"alarmed", "compared"} {
		st := sleep.NewState(name)
		v, err := db.Version(ctx, name, 0)
		if err != nil {
			continue // a smaller household
		}
		st.Alarmed = []string{v.SHA}
		if name == "compared" {
			st.Alarmed = nil
			st.Compared = []sleep.Compared{{Version: v.SHA, Against: eval.NoSkill, Quality: -0.11, Low: -0.2, High: -0.02, Cases: 60, Model: sleep.Model{Agent: "claude", Reported: "model-2"}}}
		}
		if err := j.SaveState(ctx, lease.Generation, st); err != nil {
			return err
		}
	}
	return db.ReleaseSleepLease(ctx, lease)
}

var day1 = time.Date(2026, 11, 20, 3, 17, 0, 0, time.UTC)

// A house is one skill of a household.
type house struct {
	ctx        context.Context
	a          *global
	db         *store.Store
	name, text string
	err        error
}

func (h *house) do(err error) {
	if h.err == nil {
		h.err = err
	}
}

// uses are so many, every third corrected.
func (h *house) uses(n int) {
	s := &harvest.Session{ID: "s-" + h.name, Path: "/s/" + h.name, Agent: "claude-code", Started: day1}
	for i := range n {
		label := harvest.Accepted
		if i%3 == 0 {
			label = harvest.Corrected
		}
		s.Invocations = append(s.Invocations, harvest.Invocation{ID: fmt.Sprint(h.name, i), Skill: h.name, Turn: i, Time: day1.Add(time.Duration(i) * time.Minute),
			Feedback: harvest.Feedback{Label: label}})
	}
	h.do(h.db.SaveSession(h.ctx, s))
}

func (h *house) look() {
	live, err := h.a.layout().Live(h.name)
	if h.do(err); err == nil {
		h.do(installerOf(h.a, h.db).Record(h.ctx, live))
	}
}

// challenger puts the text with one line changed on trial; it wins that many pairs.
func (h *house) challenger(decision pareto.Verdict, status record.RunStatus, pairs int) {
	text := []byte(swap(h.text, "Name every column.", "Name every column, with its unit."))
	id := "20261120-031700-" + skill.HashText([]byte(h.name))[:6]
	j := h.db.Journal(id)
	base := skill.HashText([]byte(h.text))
	run := &record.Run{ID: id, Skill: h.name, Status: status, Incumbent: base, Challenger: skill.HashText(text), Config: json.RawMessage(`{"schema":1}`), Started: day1, Ended: day1.Add(time.Minute)}
	h.do(j.SaveRun(h.ctx, run))
	c := &record.Candidate{SHA: run.Challenger, Run: id, Seq: 1, Parents: []string{base}, Operator: "reflect", State: record.Pooled, Text: text}
	if decision == "" {
		c.State, c.Reason = record.Quarantined, `new-url: the URL "https://tables.example/upload" is new`
	}
	h.do(j.SaveCandidate(h.ctx, c))
	if decision == "" {
		return
	}
	tr := pareto.NewTrial(pareto.DefaultConfig())
	for range pairs {
		tr.Add(pareto.Pair{Quality: 0.5})
	}
	if decision.IsOpen() {
		decision = tr.Verdict()
	}
	state, err := json.Marshal(map[string]any{"version": 1, "start": tr, "trial": tr})
	h.do(err)
	h.do(j.SaveTrial(h.ctx, &record.TrialRecord{Skill: h.name, Incumbent: base, Challenger: run.Challenger, Run: id,
		Decision: decision, State: state, Updated: day1}))
}

// live is the text at the skill's path.
func (h *house) live(path string) {
	switch h.name {
	case "proved":
		h.challenger(pareto.Promote, record.Finished, 40)
	case "met":
		h.challenger(pareto.Undecided, record.Finished, 4)
		h.do(os.WriteFile(path, []byte(swap(h.text, "Name every column.", "Name each column.")), 0o600))
		h.look()
	case "cut-short":
		h.challenger(pareto.Undecided, record.Interrupted, 3)
	case "held":
		h.challenger("", record.Finished, 0)
	case "on-trial", "a-skill-with-quite-a-long-name":
		h.challenger(pareto.Undecided, record.Finished, 6)
	case "kept":
		h.do(h.db.PinSkill(h.ctx, h.name, skill.HashText([]byte(h.text))))
	}
}

// weeksAgo is a program for scripts: all installs of a skill, and the last pair of its
// trials, were so many weeks earlier: weeksAgo SKILL WEEKS.
func weeksAgo() {
	if err := age(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "weeksAgo:", err)
		os.Exit(1)
	}
}

func age(ctx context.Context, name, weeks string) (err error) {
	n, err := strconv.Atoi(weeks)
	if err != nil {
		return err
	}
	a := newGlobal(strings.NewReader(""), os.Stdout, os.Stderr)
	defer func() { err = errors.Join(err, a.close()) }()
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	by := time.Duration(n) * 7 * 24 * time.Hour
	if err := db.Exec(ctx, `UPDATE installs SET begun = begun - ?1, ended = ended - ?1 WHERE skill = ?2`, by.Microseconds(), name); err != nil {
		return err
	}
	t, st, err := newestTrial(ctx, db, name)
	if err != nil || st.LastPair.IsZero() {
		return err
	}
	st.LastPair = st.LastPair.Add(-by)
	return errors.Join(t.Save(st), db.Journal(t.Run).SaveTrial(ctx, t))
}

// newestTrial is the trial of a skill that was updated last, and its state for another run.
func newestTrial(ctx context.Context, db *store.Store, name string) (*record.TrialRecord, *record.State, error) {
	all, err := db.Trials(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	st, _, err := all[0].Begin("another run", pareto.DefaultConfig(), record.Model{})
	return &all[0], st, err
}

// pairs is a program for scripts: it adds pairs to the newest trial of a skill, as a run
// would: pairs SKILL DIFFERENCE TIMES.
func pairs() {
	if err := addPairs(context.Background(), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "pairs:", err)
		os.Exit(1)
	}
}

func addPairs(ctx context.Context, name, difference, times string) (err error) {
	d, err := strconv.ParseFloat(difference, 64)
	n, err2 := strconv.Atoi(times)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	a := newGlobal(strings.NewReader(""), os.Stdout, os.Stderr)
	defer func() { err = errors.Join(err, a.close()) }()
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	t, st, err := newestTrial(ctx, db, name)
	if err != nil {
		return err
	}
	for range n {
		st.Trial.Add(pareto.Pair{Quality: d})
	}
	st.LastPair = time.Now()
	t.Decision, t.Updated = st.Trial.Verdict(), st.LastPair
	return errors.Join(t.Save(st), db.Journal(t.Run).SaveTrial(ctx, t))
}
