package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/install"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
)

// TestNightInstallsIntoConfiguredTargets: a night installs into the
// configured targets, and always into the skill's home; an edit elsewhere
// stays and keeps nothing else back.
func TestNightInstallsIntoConfiguredTargets(t *testing.T) {
	r := newRoaming(t)
	mine := append(bytes.Clone(r.v0), "Mine.\n"...)
	r.write("pi", mine)
	r.configure("targets: [codex, pi]\n")
	if _, err := r.place(r.offer); err != nil {
		t.Fatal(err)
	}
	r.holds("claude", r.v1)
	r.holds("codex", r.v1)
	r.holds("pi", mine)
	r.says("tagger, pi: refused: it holds a text of yours, kept as v1")
	if err := rollbackLive(t.Context(), r.a, "tagger"); err != nil {
		t.Fatal(err)
	}
	r.holds("claude", r.v0)
	r.holds("codex", nil)
}

// TestEditMeanwhileStopsEveryTarget: the evidence is about another text then.
func TestEditMeanwhileStopsEveryTarget(t *testing.T) {
	r := newRoaming(t)
	live := r.live()
	edited := append(bytes.Clone(r.v0), "Edited.\n"...)
	r.write("claude", edited)
	targets, err := r.a.layout().Targets("", []string{"codex", "claude"})
	if err != nil {
		t.Fatal(err)
	}
	var drift *install.DriftError
	if _, err := putInPlace(t.Context(), r.a, r.db, live, r.offer, targets); !errors.As(err, &drift) {
		t.Errorf("installed: %v", err)
	}
	r.holds("claude", edited)
	r.holds("codex", nil)
	if n := r.versions(); n != 1 {
		t.Errorf("%d versions, want the one that was found", n)
	}
}

// interrupt writes a promotion of v1 down and carries out some of it.
func (r *roaming) interrupt(done ...string) {
	r.t.Helper()
	if _, err := r.db.SaveVersion(r.t.Context(), r.offer); err != nil {
		r.t.Fatal(err)
	}
	r.write("codex", r.v0)
	files, err := install.Survey(filepath.Dir(r.path("claude")))
	if err != nil {
		r.t.Fatal(err)
	}
	from, to := skill.HashText(r.v0), skill.HashText(r.v1)
	_, err = r.db.BeginInstalls(r.t.Context(), []store.Intent{
		{Install: store.Install{Skill: "tagger", Path: r.path("claude"), From: from, To: to, Op: store.OpPromote}},
		{Install: store.Install{Skill: "tagger", Path: r.path("codex"), From: from, To: to, Op: store.OpPromote}},
		{Install: store.Install{Skill: "tagger", Path: r.path("pi"), To: to, Op: store.OpPromote}, Files: files}})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, target := range done {
		r.write(target, r.v1)
	}
}

// settled demands that nothing is open, and that the store agrees with the
// files.
func (r *roaming) settled(want map[string][]byte) {
	r.t.Helper()
	if open, err := r.db.PendingInstalls(r.t.Context()); err != nil || len(open) > 0 {
		r.t.Errorf("left: %+v, %v", open, err)
	}
	for target, text := range want {
		r.holds(target, text)
		sha := ""
		if text != nil {
			sha = skill.HashText(text)
		}
		if got, err := r.db.Installed(r.t.Context(), "tagger", r.path(target)); err != nil || got != sha {
			r.t.Errorf("the store says %.12s of %s, %v; want %.12s", got, target, err, sha)
		}
	}
}

// TestInterruptedPromotion: after any crash a command that only reads reports
// it and changes nothing, promote finishes it, rollback undoes it and gives
// the rest up, and an edit made since stays.
func TestInterruptedPromotion(t *testing.T) {
	for _, done := range [][]string{nil, {"claude"}, {"claude", "codex"}} {
		r := newRoaming(t)
		r.interrupt(done...)
		if err := installerOf(r.a, r.db).Record(t.Context(), r.live()); err != nil {
			t.Fatal(err)
		}
		r.says("a promote was interrupted before pi: `evolve promote tagger` finishes it")
		if err := promoteSkill(t.Context(), r.a, "tagger", promoteFlags{}); err != nil {
			t.Fatalf("after %v: %v", done, err)
		}
		r.settled(map[string][]byte{"claude": r.v1, "codex": r.v1, "pi": r.v1})

		r = newRoaming(t)
		r.interrupt(done...)
		if len(done) > 1 { // who looks in between settles what was done
			if err := installerOf(r.a, r.db).Record(t.Context(), r.live()); err != nil {
				t.Fatal(err)
			}
		}
		if err := rollbackSkill(t.Context(), r.a, "tagger", rollbackFlags{}); err != nil {
			t.Errorf("after %v: %v", done, err)
		}
		r.says("taking back the promote that was interrupted")
		r.settled(map[string][]byte{"claude": r.v0, "pi": nil})
		r.holds("codex", r.v0)
	}

	r := newRoaming(t)
	r.interrupt("claude")
	mine := append(bytes.Clone(r.v0), "Mine.\n"...)
	r.write("codex", mine)
	if err := promoteSkill(t.Context(), r.a, "tagger", promoteFlags{}); err != nil {
		t.Fatal(err)
	}
	r.holds("codex", mine)
	r.holds("pi", r.v1)
	r.says("an installation of tagger in codex that was interrupted did not happen")
}

// TestInterruptedRemoval: files that are left although the SKILL.md is gone
// are removed by the next command, and the skill can be put there again.
func TestInterruptedRemoval(t *testing.T) {
	r := newRoaming(t)
	if _, err := r.place(r.offer, "claude", "pi"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.db.BeginInstall(t.Context(), store.Install{Skill: "tagger", Path: r.path("pi"), From: r.offer.SHA, Op: store.OpRollback}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(r.path("pi")); err != nil {
		t.Fatal(err)
	}
	if err := installerOf(r.a, r.db).Record(t.Context(), r.live()); err != nil {
		t.Fatal(err)
	}
	r.settled(map[string][]byte{"pi": nil, "claude": r.v1})
	if _, err := os.Stat(filepath.Dir(r.path("pi"))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there still: %v", err)
	}
	if err := promoteSkill(t.Context(), r.a, "tagger", promoteFlags{to: []string{"pi"}}); err != nil {
		t.Fatal(err)
	}
	r.settled(map[string][]byte{"pi": r.v1})
}

// TestPromoteKeepsTheKernel: a version of evolve's whose kernel is another one than
// the live text's is not brought back by promote; a rollback may.
func TestPromoteKeepsTheKernel(t *testing.T) {
	r := newRoaming(t)
	if _, err := r.place(r.offer); err != nil {
		t.Fatal(err)
	}
	edited := bytes.ReplaceAll(r.v1, []byte("Never guess."), []byte("Never ever guess."))
	r.write("claude", edited)
	for _, to := range [][]string{nil, {"codex"}} {
		err := promoteSkill(t.Context(), r.a, "tagger@v1", promoteFlags{to: to, force: true})
		var f *problem.Error
		if !errors.As(err, &f) || !strings.Contains(err.Error(), "locked lines differ") {
			t.Errorf("--to %q: %v", to, err)
		}
	}
	r.holds("claude", edited)
	r.holds("codex", nil)
	if err := rollbackLive(t.Context(), r.a, "tagger@v1"); err != nil {
		t.Fatal(err)
	}
	r.holds("claude", r.v1)
}

// TestPinStopsInstallations by any command.
func TestPinStopsInstallations(t *testing.T) {
	r := newRoaming(t)
	if err := r.db.PinSkill(t.Context(), "tagger", skill.HashText(r.v0)); err != nil {
		t.Fatal(err)
	}
	_, err := r.place(r.offer)
	if code := r.a.fail(err); code != exitRefused {
		t.Errorf("exit %d, %v", code, err)
	}
	r.holds("claude", r.v0)
	if n := r.versions(); n != 1 {
		t.Errorf("%d versions, want the one that was found", n)
	}
}

// TestTargetsFollowVariables, and a name that is none is never taken for one.
func TestTargetsFollowVariables(t *testing.T) {
	r := newRoaming(t)
	at := func(name string) string { return filepath.Join(r.home, "moved", name) }
	for name, variable := range map[string]string{"claude": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME", "pi": "PI_CODING_AGENT_DIR", "copilot": "COPILOT_HOME"} {
		t.Setenv(variable, at(name))
	}
	t.Setenv("GEMINI_CLI_HOME", at("gemini"))
	if got, err := r.a.layout().Target("gemini"); err != nil || got.Dir != filepath.Join(at("gemini"), ".gemini", "skills") {
		t.Errorf("gemini is %+v, %v", got, err)
	}
	for _, name := range []string{"claude", "codex", "pi", "copilot"} {
		if got, err := r.a.layout().Target(name); err != nil || got.Dir != filepath.Join(at(name), "skills") || got.Name != name {
			t.Errorf("%s is %+v, %v", name, got, err)
		}
	}
	if got, err := r.a.layout().Target("agents"); err != nil || got.Dir != filepath.Join(r.home, ".agents", "skills") {
		t.Errorf("agents is %+v, %v", got, err)
	}
	if err := os.Mkdir(filepath.Join(r.home, "own"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := r.a.layout().Target("~/own"); err != nil || got.Dir != filepath.Join(r.home, "own") {
		t.Errorf("~/own is %+v, %v", got, err)
	}
	for _, name := range []string{"Claude", "windsurf", "", "..", "../x", "~other", "~/absent", "own", "codex\x00", "/dev/null"} {
		if got, err := r.a.layout().Target(name); err == nil && got.Dir != filepath.Dir(mustWd(t)) { // ".." is a folder, and a person may mean it
			t.Errorf("%q is %+v", name, got)
		}
	}
}

func mustWd(t *testing.T) string {
	t.Helper()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return wd
}

// TestRunPromotesIntoTargets: --promote --to installs into the named targets,
// each for itself, and reports refusals.
func TestRunPromotesIntoTargets(t *testing.T) {
	r := newRoaming(t)
	mine := append(bytes.Clone(r.v0), "Mine.\n"...)
	r.write("pi", mine)
	live := r.live()
	v := record.Version{Skill: "tagger", SHA: r.offer.SHA, Parent: live.Doc.Hash(), Author: "evolve", Operator: "reflect", Run: "r1", Proven: true, Text: r.v1}
	var some *release.PartialError
	to, err := namedTargets(r.a, "", []string{"agents", "pi"})
	if err != nil {
		t.Fatal(err)
	}
	in := installerOf(r.a, r.db)
	plan, err := in.PlanProved(t.Context(), live, &v, to)
	if err != nil {
		t.Fatal(err)
	}
	installed, err := in.Apply(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := sayProved(r.a, installed, true); len(done) != 2 || !errors.As(err, &some) || !some.Some() || r.a.fail(err) != exitRefused {
		t.Errorf("one of two refused: %v", err)
	}
	r.says("tagger v2, agents: copied, there was none (2 files)")
	r.holds("agents", r.v1)
	r.holds("claude", r.v0)
	r.holds("pi", mine)
}

// TestWatchCountsFromWhereTheSkillLives: a version is watched from its
// installation in the skill's home, whatever other targets get it later.
func TestWatchCountsFromWhereTheSkillLives(t *testing.T) {
	r := newRoaming(t)
	if _, err := r.place(r.offer); err != nil {
		t.Fatal(err)
	}
	s := nightWork(r.t, r.a, r.db)
	before, err := s.Parts().Look(t.Context(), "tagger")
	if err != nil || before.Since.IsZero() {
		t.Fatalf("since %v, %v", before.Since, err)
	}
	if err := promoteSkill(t.Context(), r.a, "tagger", promoteFlags{to: []string{"codex"}}); err != nil {
		t.Fatal(err)
	}
	r.holds("codex", r.v1)
	if after, err := s.Parts().Look(t.Context(), "tagger"); err != nil || !after.Since.Equal(before.Since) {
		t.Errorf("since %v and, once codex has it, %v, %v", before.Since, after.Since, err)
	}
}

// TestTwoInstallAtOnce: promotions and rollbacks that run at the same time end
// with a known text in every target, and a store that knows which.
func TestTwoInstallAtOnce(t *testing.T) {
	r := newRoaming(t)
	if _, err := r.db.SaveVersion(t.Context(), r.offer); err != nil {
		t.Fatal(err)
	}
	r.write("codex", r.v0)
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Go(func() {
			for range 5 {
				var out, errs bytes.Buffer
				args := []string{"promote", "tagger@v1", "--to", "claude,codex,pi"}
				if k%2 == 1 {
					args = []string{"rollback", "tagger@v0", "--to", "claude,codex"}
				}
				if code := run(t.Context(), machine{}, args, strings.NewReader(""), &out, &errs); code != exitDone && code != exitRefused {
					t.Errorf("evolve %q: exit %d\n%s%s", args, code, &out, &errs)
				}
			}
		})
	}
	wg.Wait()
	if err := installerOf(r.a, r.db).Record(t.Context(), r.live()); err != nil {
		t.Fatal(err)
	}
	if open, err := r.db.PendingInstalls(t.Context()); err != nil || len(open) > 0 {
		t.Errorf("left: %+v, %v", open, err)
	}
	for _, target := range []string{"claude", "codex", "pi"} {
		got, err := os.ReadFile(r.path(target))
		if err != nil || !bytes.Equal(got, r.v0) && !bytes.Equal(got, r.v1) {
			t.Errorf("%s holds %q, %v", target, got, err)
		}
		if sha, err := r.db.Installed(t.Context(), "tagger", r.path(target)); err != nil || sha != skill.HashText(got) {
			t.Errorf("the store says %.12s of %s, %v", sha, target, err)
		}
	}
	if n := r.versions(); n != 2 {
		t.Errorf("%d versions of two texts", n)
	}
}
