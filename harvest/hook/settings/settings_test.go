package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
)

func now() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// TestInstallAndUninstall: a file without other changes becomes what it was, to the
// byte; later changes are kept; a file that install made is removed.
func TestInstallAndUninstall(t *testing.T) {
	const program = "/usr/bin/evolve"
	for name, c := range map[string]struct {
		before  string // "": no file
		edit    func(string) string
		after   string
		backups int
	}{
		"untouched": {before: "{ \"model\": \"x\" }\n", after: "{ \"model\": \"x\" }\n", backups: 2},
		"no file":   {backups: 1},
		"changed since": {before: "{\n  \"model\": \"x\"\n}\n", edit: func(s string) string { return strings.Replace(s, `"x"`, `"y"`, 1) },
			after: "{\n  \"model\": \"y\"\n}\n", backups: 2},
	} {
		t.Run(name, func(t *testing.T) {
			clock := now()
			e := &Editor{Dir: datadir.Dir(t.TempDir()), Now: func() time.Time { clock = clock.Add(time.Second); return clock }}
			path := filepath.Join(t.TempDir(), "settings.json")
			if c.before != "" {
				if err := os.WriteFile(path, []byte(c.before), 0o640); err != nil {
					t.Fatal(err)
				}
			}
			for i, changed := range []bool{true, false} {
				if r, err := e.Install(path, program); err != nil || r.Changed != changed || len(r.Events) != len(hook.Events) {
					t.Fatalf("install %d: %+v, %v", i, r, err)
				}
			}
			if s, err := e.State(path, program); err != nil || s.State != "installed" || len(s.Missing) > 0 {
				t.Errorf("state %+v, %v", s, err)
			}
			if s, err := e.State(path, "/opt/evolve"); err != nil || s.State != "elsewhere" {
				t.Errorf("state for another program %+v, %v", s, err)
			}
			if c.edit != nil {
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(c.edit(string(text))), 0o640); err != nil {
					t.Fatal(err)
				}
			}
			for i, changed := range []bool{true, false} {
				if r, err := e.Uninstall(path); err != nil || r.Changed != changed || len(r.Events) != 0 {
					t.Fatalf("uninstall %d: %+v, %v", i, r, err)
				}
			}
			text, err := os.ReadFile(path)
			if string(text) != c.after || os.IsNotExist(err) != (c.before == "") {
				t.Errorf("%q, %v; want %q", text, err, c.after)
			}
			if info, err := os.Stat(path); err == nil && info.Mode().Perm() != 0o640 {
				t.Errorf("mode %v", info.Mode())
			}
			if kept, _ := filepath.Glob(filepath.Join(e.Dir.Backups(), "*")); len(kept) != c.backups {
				t.Errorf("%d backups, want %d", len(kept), c.backups)
			}
		})
	}
}

// TestUneditable: what cannot be edited stays, and the error tells what to do.
func TestUneditable(t *testing.T) {
	e := &Editor{Dir: datadir.Dir(t.TempDir()), Now: now}
	dir := t.TempDir()
	broken, link := filepath.Join(dir, "broken.json"), filepath.Join(dir, "link.json")
	if err := os.WriteFile(broken, []byte("{,}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "nothing"), link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{broken, link} {
		_, err := e.Install(path, "/usr/bin/evolve")
		if kind, hint := problem.Of(err); kind != problem.Input || hint == "" {
			t.Errorf("%s: %v (%d, %q)", filepath.Base(path), err, kind, hint)
		}
	}
	if text, err := os.ReadFile(broken); err != nil || string(text) != "{,}" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestOutbox: a command that only looks leaves nothing; an installation takes back that
// a version waits; a rejected text that was flagged is guarded, an approved one is not.
func TestOutbox(t *testing.T) {
	home := t.TempDir()
	o := &Outbox{Dir: datadir.Dir(home), Access: datadir.Looks, Now: now, Say: t.Errorf}
	notes := func() (said []string) {
		all, err := hook.Notes(home)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range all {
			said = append(said, n.Text)
		}
		return said
	}
	o.Leave("tables", hook.Waiting, "not written")
	if got := notes(); len(got) != 0 {
		t.Errorf("a command that only looks left %q", got)
	}
	o.Access = datadir.Writes
	o.Leave("tables", hook.Waiting, "version %d waits", 2)
	o.Leave("tables", hook.Installed, "version %d was installed", 2)
	if got := notes(); len(got) != 1 || got[0] != "version 2 was installed" {
		t.Errorf("notes %q", got)
	}
	guarded := func() int {
		all, _ := filepath.Glob(filepath.Join(o.Dir.Quarantine(), "*"))
		return len(all)
	}
	d := store.Decision{Skill: "tables", SHA: strings.Repeat("5e", 32), Word: store.Rejected, Rules: []string{"new-host"}}
	for _, c := range []struct {
		word    store.Word
		flagged bool
		want    int
	}{{store.Rejected, false, 0}, {store.Rejected, true, 1}, {store.Approved, true, 0}} {
		d.Word = c.word
		if err := o.Decided(d, c.flagged); err != nil || guarded() != c.want {
			t.Errorf("%s, flagged %v: %d texts are guarded, %v; want %d", c.word, c.flagged, guarded(), err, c.want)
		}
	}
}
