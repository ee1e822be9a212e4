package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/harvest/purge"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/status"
	"github.com/spf13/cobra"
)

func newSessionsCommand(a *global) *cobra.Command {
	c := &cobra.Command{
		Use:     "sessions",
		Short:   "List the stored sessions, show one, or remove some",
		Example: "  evolve sessions list\n  evolve sessions purge ID",
	}
	var list, purge sessionFlags
	ls := &cobra.Command{
		Use:     "list [SKILL]",
		Short:   "List the stored sessions, the newest first",
		Example: "  evolve sessions list dataviz\n  evolve sessions list --older-than 90d",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return listSessions(c.Context(), a, list) },
	}
	list.register(ls)
	show := &cobra.Command{
		Use:     "show ID",
		Short:   "Show what is stored of a session, and what was made of it",
		Example: "  evolve sessions show 4f1c",
		Args:    exactArgs(1, "a session"),
		RunE:    func(c *cobra.Command, args []string) error { return showSession(c.Context(), a, args[0]) },
	}
	rm := &cobra.Command{
		Use:   "purge [ID...]",
		Short: "Remove sessions, and everything that was made of them",
		Long: `purge removes sessions from evolve's data folder: the transcripts, the cases and
what was measured on them, the texts that learned from them and were never
installed, and what reports, requests and logs quote of them. The freed space is
overwritten. The next harvest leaves these sessions out.

The agents' own transcripts stay where they are, and so does what you have
installed: a version that learned from a removed session is named, not changed.`,
		Example: "  evolve sessions purge 956e2661\n  evolve sessions purge --older-than 90d --yes",
		RunE:    func(c *cobra.Command, args []string) error { return purgeSessions(c.Context(), a, args, purge) },
	}
	purge.register(rm)
	rm.Flags().BoolVar(&purge.all, "all", false, "every stored session")
	rm.Flags().BoolVarP(&purge.yes, "yes", "y", false, "do not ask")
	parent(c, ls, show, rm)
	return c
}

// sessionFlags select sessions.
type sessionFlags struct {
	skill     string
	olderThan string
	project   string
	all, yes  bool
}

func (f *sessionFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.skill, "skill", "", "sessions that used this skill")
	c.Flags().StringVar(&f.project, "project", "", "sessions that worked in this folder or below it")
	c.Flags().StringVar(&f.olderThan, "older-than", "", "sessions of at least this age, for example 90d")
}

// selectedSessions returns the sessions that f selects, without their turns.
// The age of a session counts from its last event; a session without times
// has no age.
func selectedSessions(ctx context.Context, a *global, db *store.Store, f sessionFlags) ([]harvest.Session, error) {
	var age time.Duration
	if f.olderThan != "" {
		var err error
		if age, err = backend.ParseAge(f.olderThan); err != nil {
			return nil, problem.Inputf("for example --older-than 90d", "%v", err)
		}
	}
	project, err := filepath.Abs(f.project)
	if err != nil {
		return nil, fmt.Errorf("find the folder %s: %w", f.project, err)
	}
	var places consent.Decisions
	all, err := db.Sessions(ctx, store.SessionFilter{Skill: f.skill, Bare: true})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(s harvest.Session) bool {
		last := s.Started
		if s.Ended.After(last) {
			last = s.Ended
		}
		if f.project != "" && !places.Holds(project, s.WorkedIn()) {
			return true
		}
		return age > 0 && (last.IsZero() || a.Now().Sub(last) < age)
	}), nil
}

func listSessions(ctx context.Context, a *global, f sessionFlags) error {
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	sessions, err := selectedSessions(ctx, a, db, f)
	if err != nil {
		return err
	}
	cases, err := db.Cases(ctx, "")
	if err != nil {
		return err
	}
	all := status.SessionsWith(sessions, cases)
	for i := range all {
		all[i].Invocations = nil
	}
	data := map[string]any{"schema": 1, "sessions": all}
	if len(all) == 0 {
		return a.Print(data, "no session is stored that fits\nnext: `evolve harvest` reads your sessions\n")
	}
	var b strings.Builder
	t := a.NewTable(&b)
	fmt.Fprintln(t, "SESSION\tAGENT\tSTARTED\tUSES\tCASES\tSKILLS")
	for _, s := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%s\n", plain.Text(s.ID), plain.Agent(s.Agent), dayOf(s.Started), s.Uses, len(s.Cases),
			plain.Text(strings.Join(s.Skills, " ")))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(&b, "next: `evolve sessions show ID` says what was made of one, `evolve sessions purge ID` removes it\n")
	return a.Print(data, b.String())
}

// dayOf formats a time for a list.
func dayOf(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.Local().Format(time.DateOnly)
}

// sessionID completes a session's name.
func sessionID(ctx context.Context, db *store.Store, name string) (string, error) {
	id, err := db.SessionID(ctx, name)
	var many *store.AmbiguousError
	switch {
	case errors.Is(err, store.ErrNotFound):
		return "", problem.Inputf("`evolve sessions list` names them", "no stored session is named %q", name)
	case errors.As(err, &many):
		return "", problem.Inputf(fmt.Sprintf("it may be %s or %s", many.Matches[0], many.Matches[1]), "%q names several sessions", name)
	}
	return id, err
}

func showSession(ctx context.Context, a *global, name string) error {
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	id, err := sessionID(ctx, db, name)
	if err != nil {
		return err
	}
	sessions, err := db.Sessions(ctx, store.SessionFilter{ID: id, Work: true})
	if err != nil {
		return err
	}
	cases, err := db.Cases(ctx, "")
	if err != nil {
		return err
	}
	plan, err := db.PlanPurge(ctx, []string{id})
	if err != nil {
		return err
	}
	s := status.SessionsWith(sessions, cases)[0]
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, started %s\n", plain.Text(s.ID), plain.Agent(s.Agent), dayOf(s.Started))
	for _, p := range s.Paths {
		fmt.Fprintf(&b, "  transcript  %s\n", plain.Text(p))
	}
	if s.Expired {
		b.WriteString("  text        expired; counts, times and labels are left\n")
	}
	if s.Acts > 0 {
		fmt.Fprintf(&b, "  work        %s of its agent: commands, changed files, refusals\n", plain.Counted(s.Acts, "act"))
	}
	for _, v := range s.Invocations {
		fmt.Fprintf(&b, "  use         %s, %s\n", plain.Text(v.Skill), cmp.Or(v.Outcome, string(harvest.Unknown)))
	}
	for _, c := range s.Cases {
		fmt.Fprintf(&b, "  case        %s\n", plain.Text(c))
	}
	fmt.Fprintf(&b, "  purging it  would remove %s\n", removes(plan))
	for _, v := range plan.Versions {
		fmt.Fprintf(&b, "  learned     %s v%d learned from it, and would stay\n", plain.Text(v.Skill), v.N)
	}
	fmt.Fprintf(&b, "next: `evolve sessions purge %s` removes it\n", plain.Text(s.ID))
	return a.Print(map[string]any{"schema": 1, "session": s, "purge": purge.ResultOf(plan)}, b.String())
}

// removes describes what a purge removes from the store.
func removes(r store.PurgeReport) string {
	replies := fmt.Sprintf("%d models' replies", r.Completions)
	if r.Completions == 1 {
		replies = "1 model's reply"
	}
	cases := plain.Counted(r.Cases, "case")
	if r.HookCases > 0 {
		cases += ", " + plain.Counted(r.HookCases, "case") + " of hooks"
	}
	return fmt.Sprintf("%s, %s, %s, %s and %s that learned from it", plain.Counted(r.Sessions, "transcript"), cases,
		plain.Counted(r.Rollouts, "rollout"), replies, plain.Counted(len(r.Removed), "text"))
}
