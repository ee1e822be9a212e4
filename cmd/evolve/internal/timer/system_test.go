package timer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/problem"
)

// A machine has the system's programs as scripts, which note how they are called; the
// crontab is a file, and systemctl refuses to enable while a file refuse exists.
type machine struct {
	*System
	dir  string
	said []string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{dir: t.TempDir()}
	m.System = &System{ConfigHome: filepath.Join(m.dir, "conf"), Say: func(f string, args ...any) { m.said = append(m.said, fmt.Sprintf(f, args...)) }}
	bin := filepath.Join(m.dir, "bin")
	for name, body := range map[string]string{
		"systemctl": `case "$*" in *enable*) test ! -e "$D/refuse" ;; esac`,
		"launchctl": `case "$1" in bootout) exit 3 ;; esac`,
		"crontab":   `case "$1" in -l) cat "$D/tab" 2>/dev/null || { echo "no crontab for you" >&2; exit 1; } ;; -r) rm "$D/tab" ;; -) cat > "$D/tab" ;; esac`,
	} {
		m.write(t, filepath.Join(bin, name), "#!/bin/sh\necho "+name+` "$@" >> "$D/log"`+"\n"+body+"\n")
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("D", m.dir)
	t.Setenv("HOME", filepath.Join(m.dir, "home"))
	return m
}

func (m *machine) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// plan makes a plan that nothing blocks.
func (m *machine) plan(t *testing.T, kind string) *Plan {
	t.Helper()
	p, err := m.Plan(t.Context(), &Timer{Kind: kind, Hour: 3, Minute: 17, Program: "/evolve", Args: []string{"sleep", "run", "--quiet"}})
	if err == nil {
		err = p.Blocked
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestInstallAndUninstall(t *testing.T) {
	for _, kind := range []string{Systemd, Launchd, Cron} {
		t.Run(kind, func(t *testing.T) {
			m, ctx := newMachine(t), t.Context()
			m.write(t, filepath.Join(m.dir, "tab"), "0 5 * * * backup\n")
			p := m.plan(t, kind)
			if done, err := p.InPlace(ctx); done || err != nil {
				t.Fatalf("in place %v, %v before anything was written", done, err)
			}
			if err := p.Apply(ctx); err != nil {
				t.Fatal(err)
			}
			if done, err := m.plan(t, kind).InPlace(ctx); !done || err != nil {
				t.Errorf("in place %v, %v", done, err)
			}
			got, err := m.Installed(ctx)
			if err != nil || got == nil || got.Kind != kind || got.At() != "03:17" {
				t.Errorf("installed %+v, %v", got, err)
			}
			gone, err := m.Uninstall(ctx)
			var files []string
			for _, f := range p.Files {
				files = append(files, f.Path)
			}
			if err != nil || !slices.Equal(gone.Files, files) || gone.Crontab != (kind == Cron) {
				t.Errorf("removed %+v, %v; want %q", gone, err, files)
			}
			if got, err := m.Installed(ctx); got != nil || err != nil {
				t.Errorf("installed %+v, %v after it was removed", got, err)
			}
			if tab, err := os.ReadFile(filepath.Join(m.dir, "tab")); err != nil || string(tab) != "0 5 * * * backup\n" {
				t.Errorf("crontab %q, %v", tab, err)
			}
		})
	}
}

// A machine has one timer: another kind can be looked at, and is not installed beside it.
func TestOneTimer(t *testing.T) {
	m := newMachine(t)
	if err := m.plan(t, Systemd).Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	p, err := m.Plan(t.Context(), &Timer{Kind: Cron, Program: "/evolve"})
	if err != nil || p.Crontab == "" || p.Blocked == nil || !strings.Contains(p.Blocked.Error(), "a systemd timer is installed already") {
		t.Errorf("plan %+v, %v", p, err)
	}
}

// If the system refuses, what was there before is there again.
func TestApplyPutsBack(t *testing.T) {
	m := newMachine(t)
	p := m.plan(t, Systemd)
	m.write(t, p.Files[1].Path, "an older one. # Written by `evolve sleep install`.\n")
	m.write(t, filepath.Join(m.dir, "refuse"), "")
	err := p.Apply(t.Context())
	if err == nil || !strings.Contains(err.Error(), "nothing is left of it") {
		t.Fatal(err)
	}
	if _, err := os.Stat(p.Files[0].Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", p.Files[0].Path, err)
	}
	if text, _ := os.ReadFile(p.Files[1].Path); !strings.HasPrefix(string(text), "an older one") {
		t.Errorf("the older file is %q", text)
	}
}

// A file that evolve has not written is neither overwritten nor removed.
func TestForeignFiles(t *testing.T) {
	m := newMachine(t)
	p := m.plan(t, Launchd)
	m.write(t, p.Files[0].Path, "somebody else's\n")
	_, err := p.InPlace(context.Background())
	if kind, _ := problem.Of(err); kind != problem.Refused {
		t.Errorf("in place: %v", err)
	}
	gone, err := m.Uninstall(t.Context())
	if err != nil || len(gone.Files) > 0 {
		t.Errorf("removed %+v, %v", gone, err)
	}
	if _, err := os.Stat(p.Files[0].Path); err != nil {
		t.Error(err)
	}
}

func TestEnvironment(t *testing.T) {
	set := map[string]string{"HOME": "/home/you", "CODEX_HOME": "codex", "XDG_DATA_HOME": "relative", "PATH": "/bin:here:/usr/bin", "A_URL": "http://127.0.0.1:1/v1",
		"B_URL": "https://you:key@host.test", "C_URL": "https://host.test/?key=x", "OPENAI_API_KEY": "sk-x"}
	got, err := Environment(func(name string) string { return set[name] }, []string{"", "A_URL", "A_URL", "B_URL", "C_URL", "D_URL"})
	if err != nil {
		t.Fatal(err)
	}
	codex, err := filepath.Abs("codex")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"A_URL=http://127.0.0.1:1/v1", "CODEX_HOME=" + codex, "HOME=/home/you", "PATH=/bin:/usr/bin"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
