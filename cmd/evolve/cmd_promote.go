package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/guard"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/hookword"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/proposed"
	"github.com/skill-evolve/evolve/tournament/campaign/probing"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/release/tracked"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// promoteFlags are the choices of evolve promote.
type promoteFlags struct {
	to         []string
	force, yes bool
	unproven   bool
	patch      bool
	tracked    tracked.Options // for a file that git tracks
}

func newPromoteCommand(a *global) *cobra.Command {
	var f promoteFlags
	c := &cobra.Command{
		Use:   "promote SKILL[@CANDIDATE|@vN]",
		Short: "Install the new text that its trial found better",
		Long: `promote installs the new text that its trial found better, or the candidate or
version behind the @. --to says where: claude, codex, pi, copilot, gemini, cursor,
agents, or a folder that holds skills; without it, the targets of config.yaml,
else where the skill is now. A target without such a skill gets a copy of its folder.
A target whose text you edited is left as it is, and your edit is kept as a
version. If no candidate waits, the live version is copied to the other targets.

A file that git tracks is shared: its base is the default branch, and only promote
changes it. It writes the working tree, where your changes stay and nothing is
committed; --patch prints a patch for git apply instead, and --branch makes a
commit on a new branch, without hooks and without a push. What leaves the machine
that way quotes no session. The script of a hook runs, so it is put in place for
its exact bytes: you see the change and are asked, or name them, PATH@SHA with 12
digits or more.`,
		Example: `  evolve promote dataviz
  evolve promote dataviz --to claude,codex,agents
  evolve promote dataviz@v2 --to ~/team/skills
  evolve promote dataviz@3f2a9c --unproven   one that is not shown to be better, recorded so
  evolve promote dataviz --branch evolve/dataviz
  evolve promote ~/hooks/no-reset.sh@3f2a9c0d51be`,
		Args: exactArgs(1, "a skill"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := namesTarget(c, f.to); err != nil {
				return err
			}
			switch branch := c.Flags().Changed("branch"); {
			case branch && f.tracked.Branch == "":
				key, _ := subject.Cut(args[0])
				return problem.Inputf("for example: --branch "+tracked.BranchName(key), "--branch names no branch")
			case branch && f.patch, len(f.to) > 0 && (branch || f.patch):
				return problem.Inputf("choose one of them", "--to, --patch and --branch go different ways")
			}
			return promoteSkill(c.Context(), a, args[0], f)
		},
	}
	c.Flags().BoolVar(&f.patch, "patch", false, "of a file that git tracks: print a patch against the default branch")
	c.Flags().StringVar(&f.tracked.Branch, "branch", "", "of a file that git tracks: commit it on a new branch of this name")
	c.Flags().BoolVar(&f.tracked.ForEveryone, "for-everyone", false, "of a file that git tracks: also if only your own sessions speak for it")
	c.Flags().BoolVar(&f.tracked.Quotes, "with-quotes", false, "of a file that git tracks: the patch or the commit may quote sessions")
	toFlag(c.Flags(), &f.to, "where to install it")
	c.Flags().BoolVar(&f.force, "force", false, "also over a text that the evidence does not cover (that text is kept as a version)")
	c.Flags().BoolVar(&f.unproven, "unproven", false, "also a candidate that is not shown to be better")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask: what is not shown to be better needs --unproven")
	return c
}

// toFlag is --to.
func toFlag(f *pflag.FlagSet, to *[]string, what string) {
	f.StringSliceVar(to, "to", nil, what+": "+strings.Join(skill.TargetNames(), ", ")+", or a folder")
}

// namesTarget refuses an empty --to.
func namesTarget(c *cobra.Command, to []string) error {
	if c.Flags().Changed("to") && len(to) == 0 {
		return problem.Inputf("the targets are "+strings.Join(skill.TargetNames(), ", ")+", or a folder", "--to names no target")
	}
	return nil
}

func promoteSkill(ctx context.Context, a *global, arg string, f promoteFlags) error {
	name, at := subject.Cut(arg)
	live, err := a.layout().Live(name)
	if err != nil {
		return err
	}
	if o := f.tracked; !live.Tracked && (f.patch || o != (tracked.Options{})) {
		return problem.Inputf(fmt.Sprintf("`evolve promote %s` installs it", name), "git does not track %s: there is no branch to change", live.Path)
	}
	r := release.Request{At: at, Force: f.force, Unproven: f.unproven}
	if r.To, err = namedTargets(a, name, f.to); err != nil {
		return err
	}
	in, plan, err := nextPlan(ctx, a, live, store.OpPromote, r)
	if err != nil {
		return err
	}
	if err := agree(ctx, a, in.Store, plan, f); err != nil {
		return err
	}
	word := hookWord(a)
	if !f.patch && f.tracked.Branch == "" {
		if err := word.Agree(plan, at, f.yes, f.again()...); err != nil {
			return err
		}
	}
	if live.Tracked && r.To == nil {
		return promoteTracked(ctx, a, in, plan, f)
	}
	done, err := in.Apply(ctx, plan)
	if err != nil {
		return err
	}
	word.Uncalled(done)
	return printPlaced(a, done)
}

// again are the flags that the same promotion needs.
func (f *promoteFlags) again() (out []string) {
	if f.force {
		out = append(out, "--force")
	}
	if f.unproven {
		out = append(out, "--unproven")
	}
	return out
}

func hookWord(a *global) hookword.Parts {
	return hookword.Parts{Terminal: &a.Terminal, Typist: a.machine.typist, Named: hookTests(a).Named}
}

// promoteTracked is promoteSkill for a file that git tracks.
func promoteTracked(ctx context.Context, a *global, in *release.Installer, plan *release.Plan, f promoteFlags) error {
	o := f.tracked
	o.Kind, o.Redactor = proposed.Tree, a.redactor()
	switch {
	case f.patch:
		o.Kind = proposed.Patch
	case o.Branch != "":
		o.Kind = proposed.Branch
	}
	done, err := tracked.Promote(ctx, in, plan, o)
	if err != nil {
		return err
	}
	if f.patch && !a.JSON { // its bytes, as git will read them
		_, err = a.Stdout.Write(done.Patch)
		return err
	}
	return a.Print(map[string]any{"schema": 1, "skill": done.Live.Name, "sha256": done.Version.SHA, "proven": done.Version.Proven, "from": done.Live.Doc.Hash(),
		"kind": done.Kind, "path": done.Path, "branch": done.Branch, "commit": done.Commit, "patch": string(done.Patch)}, plain.Text(done.Text()))
}

// nextPlan is what a promotion, a trial install or a rollback does next.
func nextPlan(ctx context.Context, a *global, live *skill.Live, op string, r release.Request) (*release.Installer, *release.Plan, error) {
	db, err := a.store(ctx)
	if err != nil {
		return nil, nil, err
	}
	in, err := a.installer(db)
	if err != nil {
		return nil, nil, err
	}
	in.Word = op != store.OpTry
	plan, err := in.Next(ctx, live, op, r)
	return in, plan, err
}

// namedTargets are the targets of --to, nil if there are none; then it checks
// those of the configuration.
func namedTargets(a *global, key string, to []string) ([]skill.Target, error) {
	targets, err := a.layout().Targets(key, to)
	if len(to) == 0 {
		return nil, err
	}
	return targets, err
}

// agree reports what the user should know of a candidate before it is
// installed, and asks for confirmation if it is not proven.
func agree(ctx context.Context, a *global, db *store.Store, p *release.Plan, f promoteFlags) error {
	if p.Trial == nil {
		return nil
	}
	if p.Older {
		a.Say("%.12s is recorded as unproven, %s", p.Version.SHA, p.Version.Note)
	}
	if p.Unproven() {
		if err := sayLacks(a, p.Live); err != nil {
			return err
		}
		if err := guard.Word(a.machine.typist, "installing a text that is not shown to be better"); err != nil {
			return err
		}
	}
	if p.Unproven() && f.yes && !f.unproven {
		return p.Declined()
	}
	if p.Unproven() && !f.unproven {
		for _, line := range p.Said { // recorded already, whatever the answer is
			a.Say("%s", line)
		}
		p.Said = nil
		ok, err := a.Confirm(fmt.Sprintf("Candidate %.12s is not shown to be better (%s). Install it all the same?", p.Version.SHA, release.Standing(&p.Trial.TrialRecord)))
		if err != nil {
			return err
		}
		if !ok {
			return p.Declined()
		}
	}
	if err := agreeProbes(ctx, a, db, p, f); p.Older || err != nil {
		return err
	}
	if s, err := candidate.Shorter(ctx, db, p.Live, p.Trial); err != nil {
		return err
	} else if s != nil {
		a.Say("%.12s is %s", p.Version.SHA, s)
	}
	return sayLifetime(ctx, a, db, &p.Trial.TrialRecord)
}

// sayLacks says what follows if a skill has no approved probes of its kernel.
func sayLacks(a *global, live *skill.Live) error {
	dir, err := a.home()
	if err != nil {
		return err
	}
	st := probing.FolderOf(dir, live.Name).Of(live.Doc, "", "")
	if said := st.Lacks(subject.Parse(live.Name).Typed()); said != "" {
		a.Say("%s", said)
	}
	return nil
}

// agreeProbes says what the probes of its kernel object to a text that is shown to be better,
// and asks if it breaks a rule more often than the live one, or has not answered them.
func agreeProbes(ctx context.Context, a *global, db *store.Store, p *release.Plan, f promoteFlags) error {
	dir, err := a.home()
	if err != nil || p.Unproven() {
		return err
	}
	r, err := probing.ReportOf(ctx, db, dir, p.Live, p.Version.SHA, &p.Trial.TrialRecord)
	if err != nil {
		return err
	}
	if r.Against != "" {
		a.Say("%.12s: %s", p.Version.SHA, r.Against)
	}
	if !r.Holds() {
		return nil
	}
	what, breaks := "has not answered the probes of its locked rules", r.Breaks()
	if breaks {
		what = "breaks a locked rule more often than the live text"
	}
	if err := guard.Word(a.machine.typist, "installing a text that "+what); err != nil || f.unproven {
		return err
	}
	if !f.yes {
		if ok, err := a.Confirm("It " + what + ". Install it all the same?"); err != nil || ok {
			return err
		}
	}
	hint := "add --unproven to install it anyway"
	if !breaks {
		hint = fmt.Sprintf("`evolve --resume %s` has it answer; %s", p.Trial.Run, hint)
	}
	return problem.Refusef(hint, "%.12s %s: nothing was changed", p.Version.SHA, what)
}

// sayLifetime reports if the proof does not hold among all trials of the skill.
func sayLifetime(ctx context.Context, a *global, db *store.Store, t *record.TrialRecord) error {
	said, _, err := release.OverLifetime(ctx, db, t)
	if said != "" {
		a.Say("%s", said)
	}
	return err
}
