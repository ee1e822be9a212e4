//go:build unix

package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A consumer that panics ends the child at once, and the panic reaches the caller of
// Run, not the process.
func TestLineThatPanics(t *testing.T) {
	for name, script := range map[string]string{
		"in the stream": `echo the secret; touch "$1"; sleep 60; rm "$1"`,
		"at its end":    `touch "$1"; printf 'the secret'`,
	} {
		t.Run(name, func(t *testing.T) {
			mark := filepath.Join(t.TempDir(), "mark")
			c := sh(script, mark)
			c.Line = func(line []byte) error { panic(errors.New(string(line))) }
			begun := time.Now()
			defer func() {
				v := recover()
				p, ok := v.(*LinePanic)
				if !ok || fmt.Sprint(p.Value) != "the secret" || !strings.Contains(string(p.Stack), "TestLineThatPanics") {
					t.Errorf("the panic is %v", v)
				}
				if took := time.Since(begun); took > 30*time.Second {
					t.Errorf("it took %v", took)
				}
				if _, err := os.Stat(mark); err != nil && name == "at its end" {
					t.Error(err)
				}
			}()
			_, err := Run(t.Context(), c)
			t.Errorf("no panic, %v", err)
		})
	}
}
