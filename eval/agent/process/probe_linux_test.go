package process

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
)

// TestProbe: the probe passes in the sandbox of Linux, and finds each hole of a worse one.
func TestProbe(t *testing.T) {
	if err := Available(); err != nil {
		t.Skip(err)
	}
	if err := probe(Run); err != nil {
		t.Error(err)
	}
	// Without a sandbox everything is found; in one with a hole that hole is.
	none := func(ctx context.Context, c Command) (*Result, error) {
		c.Sandbox = nil
		return Run(ctx, c)
	}
	holed := func(open func(c *Command)) func(context.Context, Command) (*Result, error) {
		return func(ctx context.Context, c Command) (*Result, error) {
			open(&c)
			return Run(ctx, c)
		}
	}
	outside := func(c *Command) string { return strings.TrimSuffix(c.Args[6], "/text") }
	for _, w := range []struct {
		name, want string
		run        func(context.Context, Command) (*Result, error)
	}{
		{"none", "read a file", none},
		{"reads", "read a file", holed(func(c *Command) { c.Sandbox.Readable = []string{outside(c)} })},
		{"writes", "wrote a file", holed(func(c *Command) {
			if err := os.Remove(c.Args[6]); err != nil {
				t.Fatal(err)
			}
			c.Sandbox.Writable = append(c.Sandbox.Writable, outside(c))
		})},
		{"connects", "reached another server", holed(func(c *Command) { c.Sandbox.Hosts = append(c.Sandbox.Hosts, "127.0.0.1:"+c.Args[8]) })},
		{"too tight", "cannot work", holed(func(c *Command) { c.Sandbox.Hosts = nil })},
		{"no program", "cannot work", func(context.Context, Command) (*Result, error) { return &Result{Exit: 71}, nil }},
		{"no start", "not permitted", func(context.Context, Command) (*Result, error) { return nil, errors.New("not permitted") }},
	} {
		if err := probe(w.run); err == nil || !strings.Contains(err.Error(), w.want) {
			t.Errorf("%s: %v, want %q", w.name, err, w.want)
		}
	}
}
