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
