package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store"
)

// SQLite's full disk is one of its own errors, not the system's ENOSPC.
func TestFullDiskHasAHint(t *testing.T) {
	code, hint := classify(fmt.Errorf("save: %w", &store.FullError{Path: "evolve.db", Err: errors.New("full")}))
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
		eval.Auth: "`evolve doctor`", eval.RateLimited: "--concurrency", eval.Unreachable: "is the server running?", eval.ServerError: "it answers, and fails",
	} {
		err := fmt.Errorf("evaluate: %w", &eval.InfraError{Kind: kind, Err: errors.New("no")})
		code, hint := classify(err)
		if code != exitFailed || !strings.Contains(hint, want) || strings.Contains(hint, "saved") {
			t.Errorf("%v: exit code %d, hint %q", kind, code, hint)
		}
	}
}

// Unknown is never told as none.
func TestUnknownTokensAreNotZero(t *testing.T) {
	if got := spent(eval.Spent{Rollouts: 3}); !strings.Contains(got, "tokens unknown") || strings.Contains(got, " 0 tokens") {
		t.Error(got)
	}
	if got := spent(eval.Spent{Rollouts: 3, TokensIn: 1200}); !strings.Contains(got, "1200 tokens") {
		t.Error(got)
	}
}
