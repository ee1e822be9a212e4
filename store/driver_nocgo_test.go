//go:build !cgo

package store

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
)

func TestWithoutCgo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "evolve.db")
	for name, f := range map[string]func(context.Context, string) (*Store, error){"Open": Open, "OpenReadOnly": OpenReadOnly} {
		_, err := f(t.Context(), path)
		if err == nil || !strings.Contains(err.Error(), "CGO_ENABLED=1") || !strings.Contains(err.Error(), "gcc") {
			t.Errorf("%s says %v", name, err)
		}
	}
}
