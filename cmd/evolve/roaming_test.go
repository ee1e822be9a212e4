package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
)

// A roaming is a skill in a home of its own, with a version that evolve made and
// that is installed nowhere yet.
type roaming struct {
	t      *testing.T
	a      *global
	db     *store.Store
	home   string
	errs   *bytes.Buffer
	v0, v1 []byte
	offer  record.Version
}

func newRoaming(t *testing.T) *roaming {
	home := t.TempDir()
	for name, v := range map[string]string{"HOME": home, "EVOLVE_HOME": filepath.Join(home, "data"), "CLAUDE_CONFIG_DIR": "", "CODEX_HOME": "",
		"PI_CODING_AGENT_DIR": "", "COPILOT_HOME": "", "GEMINI_CLI_HOME": ""} {
		t.Setenv(name, v)
	}
	r := &roaming{t: t, home: home, errs: new(bytes.Buffer)}
	r.a = newGlobal(bytes.NewReader(nil), new(bytes.Buffer), r.errs)
	t.Cleanup(func() {
		if err := r.a.close(); err != nil {
			t.Error(err)
		}
	})
	text := "---\nname: tagger\ndescription: Tags notes.\n---\n\n## Security\n\nNever guess.\n\n## Steps\n\nTag them.\n"
	r.v0, r.v1 = []byte(text), []byte(text+"\nAt most three tags.\n")
	r.write("claude", r.v0)
	if err := os.WriteFile(filepath.Join(filepath.Dir(r.path("claude")), "notes.md"), []byte("notes\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	var err error
	if r.db, err = r.a.store(t.Context()); err != nil {
		t.Fatal(err)
	}
	live := r.live()
	if err := installerOf(r.a, r.db).Record(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	r.offer = record.Version{Skill: "tagger", SHA: skill.HashText(r.v1), Parent: skill.HashText(r.v0), Author: "evolve", Operator: "reflect",
		Proven: true, Text: r.v1}
	return r
}

func (r *roaming) path(target string) string {
	below := map[string]string{"claude": ".claude", "codex": ".codex", "pi": ".pi/agent", "copilot": ".copilot", "agents": ".agents"}[target]
	return filepath.Join(r.home, filepath.FromSlash(below), "skills", "tagger", skill.FileName)
}

func (r *roaming) write(target string, text []byte) {
	r.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(r.path(target)), 0o700), os.WriteFile(r.path(target), text, 0o600)); err != nil {
		r.t.Fatal(err)
	}
}

// holds demands what is in a target, nil for nothing.
func (r *roaming) holds(target string, want []byte) {
	r.t.Helper()
	got, err := os.ReadFile(r.path(target))
	if want == nil && !errors.Is(err, os.ErrNotExist) || want != nil && (err != nil || !bytes.Equal(got, want)) {
		r.t.Errorf("%s holds %q (%v), want %q", target, got, err, want)
	}
}

func (r *roaming) live() *skill.Live {
	r.t.Helper()
	live, err := r.a.layout().Live("tagger")
	if err != nil {
		r.t.Fatal(err)
	}
	return live
}

// says demands words on stderr since the last call.
func (r *roaming) says(want string) {
	r.t.Helper()
	if !strings.Contains(r.errs.String(), want) {
		r.t.Errorf("stderr has no %q:\n%s", want, r.errs)
	}
	r.errs.Reset()
}

func (r *roaming) versions() int {
	r.t.Helper()
	all, err := r.db.Versions(r.t.Context(), "tagger")
	if err != nil {
		r.t.Fatal(err)
	}
	return len(all)
}

// install puts a text of evolve's in the place of the live one, and into targets.
func (r *roaming) install(text []byte, to ...string) {
	r.t.Helper()
	v := record.Version{Skill: "tagger", SHA: skill.HashText(text), Parent: r.live().Doc.Hash(), Author: "evolve", Operator: "reflect", Proven: true, Text: text}
	done, err := r.place(v, append([]string{"claude"}, to...)...)
	if err == nil {
		err = done.Refusal()
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// configure writes config.yaml, for a command that has not read it yet.
func (r *roaming) configure(text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.home, "data", "config.yaml"), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.a.conf = nil
}

// place puts a proved text into targets; those that a night has if none are named.
func (r *roaming) place(v record.Version, to ...string) (*release.Result, error) {
	r.t.Helper()
	targets, err := namedTargets(r.a, "", to)
	if err != nil {
		r.t.Fatal(err)
	}
	return putInPlace(r.t.Context(), r.a, r.db, r.live(), v, targets)
}

// putInPlace puts a proved text into targets. The error may be about the
// skill's home.
func putInPlace(ctx context.Context, a *global, db *store.Store, live *skill.Live, v record.Version, to []skill.Target) (*release.Result, error) {
	in := installerOf(a, db)
	plan, err := in.PlanProved(ctx, live, &v, to)
	if err != nil {
		return nil, err
	}
	done, err := in.Apply(ctx, plan)
	if err != nil {
		return nil, err
	}
	done.Elsewhere(a.Say)
	return done, done.HomeRefusal()
}

// installerOf installs for a global whose data folder is there.
func installerOf(a *global, db *store.Store) *release.Installer {
	in, err := a.installer(db)
	if err != nil {
		panic(err)
	}
	return in
}
