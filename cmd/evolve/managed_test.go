package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// A skill that somebody else keeps up to date is written by nothing that can write
// a skill, whatever was proved and however it was asked for.
func TestManagedSkillsAreNeverWritten(t *testing.T) {
	for _, owner := range []string{"its frontmatter", "a plugin"} {
		t.Run(owner, func(t *testing.T) {
			o := newDesk(t)
			text := swap(tablesText, "name: tables\n", "name: tables\nmetadata:\n  managed-by: other-tool\n")
			dir := filepath.Dir(o.path)
			if owner == "a plugin" {
				text = tablesText
				real := filepath.Join(o.a.claudeHome, "plugins", "cache", "pack", "tables")
				o.check(os.MkdirAll(filepath.Dir(real), 0o700))
				o.check(os.Rename(dir, real))
				o.check(os.Symlink(real, dir))
				dir = real
			}
			o.write(text)
			o.look()
			live, err := o.a.layout().Live("tables")
			o.check(err)
			if !live.Managed {
				t.Fatal("nobody noticed")
			}
			old := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			o.check(os.Chtimes(filepath.Join(dir, "SKILL.md"), old, old))
			sha := live.Doc.Hash()
			o.check(o.db.ConfirmKernel(t.Context(), "tables", live.Doc.KernelHash(), old))
			home, err := o.a.home()
			o.check(err)
			o.check(approveNoProbes(string(home), live))
			next := swap(text, "Name every column.", "Name every column, with its unit.")
			proved := o.challenger(sha, next, "reflect", pareto.Promote)
			ctx := t.Context()

			sleeper := nightWork(t, o.a, o.db)
			if out, err := sleeper.Parts().Look(ctx, "tables"); err != nil || out.Unable == "" {
				t.Errorf("a night would work on it: %+v, %v", out, err)
			}
			for what, try := range map[string]func() error{
				"promote": func() error { return promoteSkill(ctx, o.a, "tables", promoteFlags{yes: true, force: true}) },
				"promote of a named one": func() error {
					return promoteSkill(ctx, o.a, "tables@"+proved[:12], promoteFlags{yes: true, force: true})
				},
				"a night's installation": func() error {
					_, err := sleeper.Parts().Install(ctx, sleep.Task{Skill: "tables", Run: "20261120-000000-" + proved[:6]}, sleep.Result{Incumbent: sha, Challenger: proved})
					return err
				},
				"an installation": func() error {
					_, err := putInPlace(ctx, o.a, o.db, live, record.Version{Skill: "tables", SHA: proved, Parent: sha, Author: "evolve", Text: []byte(next)}, nil)
					return err
				},
				"rollback": func() error {
					_, err := o.db.SaveVersion(ctx, record.Version{Skill: "tables", SHA: proved, Parent: sha, Author: "evolve", Text: []byte(next)})
					o.check(err)
					return rollbackSkill(ctx, o.a, "tables@v0", rollbackFlags{force: true})
				},
			} {
				err := try()
				var hopeless *sleep.Hopeless
				var f *problem.Error
				refusal := errors.As(err, &hopeless) || errors.As(err, new(*sleep.Overtaken)) || errors.As(err, &f) && f.Kind == problem.Refused
				var quiet *quietExit
				if err == nil || !refusal && !(errors.As(err, &quiet) && quiet.code == exitRefused) {
					t.Errorf("%s: %v, want a refusal", what, err)
				}
			}
			info, err := os.Stat(filepath.Join(dir, "SKILL.md"))
			o.check(err)
			got, err := os.ReadFile(o.path)
			o.check(err)
			entries, err := os.ReadDir(dir)
			o.check(err)
			if string(got) != text || !info.ModTime().Equal(old) || len(entries) != 1 {
				t.Errorf("written: %v, %d entries\n%s", info.ModTime(), len(entries), got)
			}
			r, err := gatherStatus(ctx, o.a)
			o.check(err)
			if s := r.Skills[0]; !s.Managed || len(s.Waits) > 0 || strings.Contains(r.Next.Command, "tables") {
				t.Errorf("status offers %+v, %+v", s.Waits, r.Next)
			}
		})
	}
}
