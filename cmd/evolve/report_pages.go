package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// writePage writes a page into the data folder's reports, for its owner alone, and
// returns its path.
func (a *app) writePage(name string, write func(io.Writer) error) (string, error) {
	h, err := a.home()
	if err != nil {
		return "", err
	}
	dir := h.Reports()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("write report: %w", err)
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return "", err
	}
	path := filepath.Join(dir, name+".html")
	if err := renameio.WriteFile(path, b.Bytes(), fileMode); err != nil {
		return "", fmt.Errorf("write report: %w", err)
	}
	return path, nil
}

// writeReport renders a run's report into the data folder and returns its path.
func (a *app) writeReport(ctx context.Context, db *store.Store, run string) (string, error) {
	m, err := a.reportModel(ctx, db, run)
	if err != nil {
		return "", err
	}
	return a.writePage(m.Run, m.HTML)
}

// comparisonPage is the file name of a comparison's page. The same two texts have
// one page: the newest.
func comparisonPage(c *report.Comparison) string {
	return fmt.Sprintf("compare-%s-%s-%s", datadir.FileName(c.Skill), first16(c.A.SHA), first16(c.B.SHA))
}

// nightPage is a night as its page shows it.
func nightPage(r *nightReport) *report.Night {
	n := &report.Night{ID: r.ID, Policy: string(r.Policy), Began: r.Began, Ended: r.Ended, Sessions: r.Sessions, TakenOver: r.TakenOver,
		Caps: r.Caps.Eval(), Spent: r.Spent, Waiting: r.next(), Warnings: r.Warnings}
	for i := range r.Steps {
		n.Steps = append(n.Steps, nightStep(&r.Steps[i]))
	}
	return n
}

func nightStep(k *sleep.Step) report.NightStep {
	s := report.NightStep{Kind: kindOfStep(k), Skill: k.Skill, Stage: string(k.Stage), Note: k.Note, Gain: k.Gain,
		Attempts: k.Attempts, Errors: k.Errors, Alarm: isAlarm(k), Certified: k.Kind == sleep.Certify && k.Outcome == sleep.Certified}
	switch k.Kind {
	case sleep.Continue, sleep.Search, sleep.Certify:
		if k.Spent != (eval.Spent{}) { // what never began has spent nothing
			s.Spent = &k.Spent
		}
	case sleep.Install:
		s.Installed = k.Stage == sleep.Done
	}
	if res := k.Result; res != nil {
		s.Simulated = res.Simulated
		if res.Report != "" {
			s.Report = filepath.Base(res.Report)
		}
		s.Proved = k.Kind == sleep.Install && k.Stage == sleep.Skipped
		if res.Decision != "" && k.Kind != sleep.Install {
			s.Trial = &report.NightTrial{Decision: string(res.Decision), Challenger: res.Challenger, EValue: res.EValue, Alpha: res.Alpha, Flagged: res.Flagged}
		}
	}
	if al := k.Alarm; al != nil {
		s.Watch = &report.NightWatch{OldSessions: al.OldSessions, NewSessions: al.NewSessions, OldRate: al.OldRate, NewRate: al.NewRate,
			Limit: al.Limit, EValue: al.EValue, Alpha: al.Alpha, Raised: al.Raised()}
	}
	return s
}

// writeNight writes the page of a night that had something to do, and returns its
// path, "" for none. A page that cannot be written is no reason to lose a night.
func (a *app) writeNight(r *nightReport) string {
	busy := false
	for _, k := range r.Steps {
		busy = busy || k.Skill != ""
	}
	if r.DryRun || !busy {
		return ""
	}
	path, err := a.writePage("night-"+r.ID, nightPage(r).HTML)
	if err != nil {
		a.Say("the night's page cannot be written: %v", err)
	}
	return path
}

// night finds a night by its name or the beginning of it; "night" is the newest.
// nil where there is none of that name.
func (rd *reader) night(ctx context.Context, db *store.Store, name string) (*nightReport, error) {
	nights, err := sleep.Nights(ctx, db, 0)
	if err != nil {
		return nil, err
	}
	name = strings.TrimPrefix(name, "night-")
	at := slices.IndexFunc(nights, func(n sleep.Night) bool { return n.ID == name })
	if at < 0 {
		at = slices.IndexFunc(nights, func(n sleep.Night) bool { return name == "night" || strings.HasPrefix(n.ID, name) })
	}
	if at < 0 {
		if name == "night" {
			err = problem.Inputf("`evolve sleep run` has one", "there was no night yet")
		}
		return nil, err
	}
	r := reportOf(&nights[at])
	if at == 0 { // what is to do now is no matter of an older night
		if r.Waiting, r.alarms, err = rd.waitingNow(ctx, db, r.Night); err != nil {
			return nil, err
		}
		r.Retire, err = rd.retirements(ctx, db)
	}
	return r, err
}

// lessons are the sentences of a run's challenger with what taught them; none
// where no run made the text, or it was removed.
func lessons(ctx context.Context, db *store.Store, run *tournament.Run) ([]report.Lesson, error) {
	if run.Challenger == "" {
		return nil, nil
	}
	s := &candidate.Texts{Skill: run.Skill, Store: db}
	first, _, err := s.Made(ctx, run.Challenger)
	if err != nil || first == nil || len(first.Text) == 0 {
		return nil, err
	}
	doc, err := skill.Stored(first.Text)
	if err != nil {
		return nil, nil // what cannot be cut into sentences taught none
	}
	// What this run's incumbent lacked, whatever the text was made into since.
	h, err := s.History(ctx, &candidate.Text{Doc: doc, Candidate: first, Version: &tournament.Version{Author: "evolve", Parent: run.Incumbent}})
	if err != nil {
		return nil, fmt.Errorf("read what taught %s: %w", plain.Short(run.Challenger), err)
	}
	var out []report.Lesson
	for _, c := range h.Changes(run.Challenger) {
		l := report.Lesson{Kind: c.Kind, Text: c.Text, Was: c.Was, Because: c.Because, Steps: []report.LessonStep{}}
		for _, st := range c.Steps {
			step := report.LessonStep{SHA: st.SHA, Operator: st.Operator, Cases: []report.LessonCase{}}
			for _, k := range st.Cases {
				step.Cases = append(step.Cases, report.LessonCase{Case: k.Case, Words: k.Words})
			}
			l.Steps = append(l.Steps, step)
		}
		out = append(out, l)
	}
	return out, nil
}
