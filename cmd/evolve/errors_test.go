package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/advice"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/status"
)

// SQLite's full disk is one of its own errors, not the system's ENOSPC.
func TestFullDiskHasAHint(t *testing.T) {
	code, hint := codeOf(fmt.Errorf("save: %w", &store.FullError{Path: "evolve.db", Err: errors.New("full")}))
	if code != exitFailed || !strings.Contains(hint, "free some disk space") {
		t.Errorf("exit code %d, hint %q", code, hint)
	}
}

func TestErrorsHoldNoTerminalCommands(t *testing.T) {
	if got := oneLine("status 400:\n \x1b[31mred\x1b]0;title\a"); strings.ContainsAny(got, "\n\x1b\a") || !strings.Contains(got, "red") {
		t.Errorf("%q", got)
	}
}

// A hint is believed: it must not send anybody to a server that answers, or to a
// flag that the agent does not know.
func TestHintsOfInfrastructure(t *testing.T) {
	for kind, want := range map[eval.FailureKind]string{
		eval.Auth: "`evolve doctor`", eval.RateLimited: "--concurrency", eval.Unreachable: "is the server running?", eval.ServerError: "the server answers with an error",
	} {
		err := fmt.Errorf("evaluate: %w", &eval.InfraError{Kind: kind, Err: errors.New("no")})
		code, hint := codeOf(err)
		if code != exitFailed || !strings.Contains(hint, want) || strings.Contains(hint, "saved") {
			t.Errorf("%v: exit code %d, hint %q", kind, code, hint)
		}
	}
}

// Unknown is never reported as none.
func TestUnknownTokensAreNotZero(t *testing.T) {
	if got := status.Spent(eval.Spent{Rollouts: 3}); !strings.Contains(got, "tokens unknown") || strings.Contains(got, " 0 tokens") {
		t.Error(got)
	}
	if got := status.Spent(eval.Spent{Rollouts: 3, TokensIn: 1200}); !strings.Contains(got, "1,200 tokens") {
		t.Error(got)
	}
}

// Only evolve's own data can be moved by EVOLVE_HOME; of any other folder the hint
// names the folder.
func TestReadOnlyHint(t *testing.T) {
	home := t.TempDir()
	t.Setenv("EVOLVE_HOME", home)
	skills := t.TempDir()
	for path, want := range map[string]string{filepath.Join(home, "evolve.db"): "EVOLVE_HOME", filepath.Join(skills, "tagger", "SKILL.md"): filepath.Join(skills, "tagger"),
		".SKILL.md.evolve-1": "that folder", "": "EVOLVE_HOME"} {
		var err error = syscall.EROFS
		if path != "" {
			err = &fs.PathError{Op: "open", Path: path, Err: syscall.EROFS}
		}
		code, hint := codeOf(fmt.Errorf("install: %w", err))
		if code != exitFailed || !strings.Contains(hint, want) || want != "EVOLVE_HOME" && strings.Contains(hint, "EVOLVE_HOME") {
			t.Errorf("%s: exit %d, hint %q", path, code, hint)
		}
	}
}

// NaN is reported as such, not as a negative number.
func TestFiniteFlags(t *testing.T) {
	for _, args := range [][]string{{"--skill", "x", "--max-cost-usd", "NaN"}, {"--skill", "x", "--max-cost-usd", "inf"}, {"run", "--skill", "x", "--price-in=-Inf"},
		{"cases", "generate", "--skill", "x", "--max-cost-usd", "nan"}, {"sleep", "run", "--max-cost-usd", "+Inf"}, {"compare", "x", "--rate", "Inf"}} {
		code, out, errs := runHere(t, t.TempDir(), args...)
		if code != exitUsage || out != "" || !strings.Contains(errs, "takes a finite number, not ") || strings.Contains(errs, "negative") {
			t.Errorf("%q: exit %d, %s%s", args, code, out, errs)
		}
	}
	if code, _, errs := runHere(t, t.TempDir(), "--skill", "x", "--max-cost-usd", "-1"); code != exitUsage || !strings.Contains(errs, "negative") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// codeOf is the exit code and the hint of an error.
func codeOf(err error) (code int, hint string) {
	kind, hint := advice.Of(err)
	return exitCode(kind), hint
}
