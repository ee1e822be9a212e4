package redact_test

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest/redact"
)

func TestKnown(t *testing.T) {
	r := redact.Known(" plain-key-of-ours\n", "plain-key-of-ours-2", "a b/c+d=e&f", "short", "", "redacted", "known-secret")
	in := "plain-key-of-ours-2, plain-key-of-ours; a+b%2Fc%2Bd%3De%26f a b/c+d=e&f short [redacted:known-secret] DB_PASSWORD=hunter2hunter2"
	got, n := r.Redact(in)
	want := "[redacted:known-secret], [redacted:known-secret]; [redacted:known-secret] [redacted:known-secret] short [redacted:known-secret] DB_PASSWORD=[redacted:password]"
	if got != want || n != 5 {
		t.Errorf("%d found, %s\nwant %s", n, got, want)
	}
	if again, n := r.Redact(got); again != got || n != 0 {
		t.Errorf("%d found in what is clean: %s", n, again)
	}
	if s, n := redact.Known().Redact("plain"); s != "plain" || n != 0 {
		t.Errorf("%q, %d", s, n)
	}
	if strings.Contains(got, "plain-key") {
		t.Error("a key is left")
	}
}
