package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

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
