//go:build unix

package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPrograms(t *testing.T) {
	boxes(t, func(t *testing.T, box *Sandbox) {
		p, dir := Programs{Bare: box == nil}, t.TempDir()
		script := filepath.Join(dir, "check.sh")
		if err := os.WriteFile(script, []byte("#!/bin/sh\ncat; pwd; echo oops >&2; echo made > made; exit 4\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("EVOLVE_CANARY", "canary")
		out, diag, exit, err := p.RunProgram(t.Context(), dir, []string{"./check.sh"}, []byte("asked\n"), time.Minute)
		if err != nil || exit != 4 || string(out) != "asked\n"+dir+"\n" || string(diag) != "oops\n" {
			t.Errorf("%q, %q, %d, %v", out, diag, exit, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "made")); err != nil {
			t.Error(err)
		}
		out, _, exit, err = p.RunProgram(t.Context(), "", []string{"sh", "-c", "pwd; env"}, nil, time.Minute)
		if err != nil || exit != 0 || !strings.HasPrefix(string(out), "/") || strings.Contains(string(out), "canary") {
			t.Errorf("%q, %d, %v", out, exit, err)
		}
		if here, _ := os.Getwd(); strings.HasPrefix(string(out), here+"\n") {
			t.Errorf("it ran in our own folder: %q", out)
		}
		_, _, _, err = p.RunProgram(t.Context(), dir, []string{"sleep", "60"}, nil, 20*time.Millisecond)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("over its limit: %v", err)
		}
		for _, argv := range [][]string{nil, {"/no/such"}, {"no-such-program"}, {"./none"}} {
			if _, _, _, err := p.RunProgram(t.Context(), dir, argv, nil, time.Minute); err == nil {
				t.Errorf("%q ran", argv)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, _, err := p.RunProgram(ctx, dir, []string{"true"}, nil, time.Minute); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	})
}

// A grader is in its owner's folder, and its case names it there.
func TestProgramsOfTheirOwner(t *testing.T) {
	boxes(t, func(t *testing.T, box *Sandbox) {
		p, dir, own := Programs{Bare: box == nil}, t.TempDir(), t.TempDir()
		grader := filepath.Join(own, "my grader.sh")
		for name, text := range map[string]string{grader: "#!/bin/sh\necho graded\n", filepath.Join(own, "diary"): "private\n"} {
			if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		for _, argv := range [][]string{{grader}, {"sh", grader}} {
			out, diag, exit, err := p.RunProgram(t.Context(), dir, argv, nil, time.Minute)
			if err != nil || exit != 0 || string(out) != "graded\n" {
				t.Errorf("%q: %q, %q, %d, %v", argv, out, diag, exit, err)
			}
		}
		if box == nil {
			return
		}
		// Files that are only beside it, and folders, cannot be read.
		for _, argv := range [][]string{{"sh", "-c", "cat '" + own + "/diary'", grader}, {"ls", own}} {
			if out, _, exit, err := p.RunProgram(t.Context(), dir, argv, nil, time.Minute); err != nil || exit == 0 || strings.Contains(string(out), "private") {
				t.Errorf("%q: %q, %d, %v", argv, out, exit, err)
			}
		}
		_, _, _, err := p.RunProgram(t.Context(), dir, []string{filepath.Join(own, "gone.sh")}, nil, time.Minute)
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a program that is not there: %v", err)
		}
	})
}

func TestFind(t *testing.T) {
	dir, elsewhere, prepared := t.TempDir(), t.TempDir(), t.TempDir()
	for _, name := range []string{filepath.Join(dir, "run.sh"), filepath.Join(elsewhere, "mine"), filepath.Join(prepared, "jest")} {
		if err := os.WriteFile(name, []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{os.WriteFile(filepath.Join(dir, "text"), nil, 0o600), os.Symlink(prepared, filepath.Join(dir, "node_modules"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", elsewhere+string(os.PathListSeparator)+os.Getenv("PATH"))
	p := Programs{Prepared: func(string) (string, []string) { return prepared, nil }}
	for name, want := range map[string]string{
		"sh": "", "./run.sh": "", "node_modules/jest": "", filepath.Join(elsewhere, "mine"): "",
		"mine": "the sandbox does not show", "no-such-program": "not found", "./none": "no such file", "./text": "is no program", "./.": "is no program",
	} {
		if err := p.Find(dir, name); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if err := (Programs{Bare: true}).Find(dir, "mine"); err != nil {
		t.Error(err)
	}
	if err := (Programs{}).Find(dir, "node_modules/jest"); err == nil {
		t.Error("a link out of the workspace was followed")
	}
}

// A check that a limit of its sandbox ended says so.
func TestProgramsLimit(t *testing.T) {
	needSandbox(t)
	_, diag, exit, err := Programs{}.RunProgram(t.Context(), "", []string{"sh", "-c", "while :; do sleep 60 & done"}, nil, time.Minute)
	if err != nil || exit == 0 || !strings.HasSuffix(string(diag), "evolve: ran more than 512 processes: ended\n") {
		t.Errorf("%q, %d, %v", diag, exit, err)
	}
}
