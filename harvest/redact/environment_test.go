package redact

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A key in the environment is known by its value whatever it is made of; where a
// variable names a place, the place stays readable.
func TestEnvironmentKeys(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, path := range []string{"keys", "keys/deploy-2026.pem"} {
		if err := os.Mkdir(filepath.Join(dir, path), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for value, secret := range map[string]bool{
		"q7Zp/xL9vB2mW4tK8dH1sYc6RfJg0Tn3Aa5Ee+Uu": true, "/7Zp/xL9vB2mW4tK8dH1sYc6RfJg0Tn3Aa5Ee+Uu": true, "abc\\def/ghi jkl 9": true,
		"https://ci:hunter2boat@git.test/a": true, "https://hooks.test/send?k=hunter2boat": true, "correct horse battery": true, "keys/deploy-2027.pem": true,
		"/run/secrets/db-password": false, "/usr/Keys0123456789/Deploy012345678901234": false, "./keys/deploy.pem": false, "../keys/deploy.pem": false, "~/keys/deploy.pem": false,
		"keys/deploy-2026.pem": false, dir: false, "https://auth.test/oauth2/token": false, "short/key1": false,
	} {
		got, _ := NewKeys([]string{"HOME=/root", "ACME_API_KEY=" + value}).Redact("401: bad " + value + "!")
		if known := strings.Contains(got, "[redacted:known-secret]"); known != secret {
			t.Errorf("%q: %q; known %v, want %v", value, got, known, secret)
		}
	}
}

// A key that was added is known from then on, to redactors that were made before as well.
func TestKeysAdded(t *testing.T) {
	var k Keys
	before := k.Redactor()
	const text = "bad qv-mine7mine7mine7"
	if got, n := before.Redact(text); n != 0 {
		t.Errorf("%q before it was added", got)
	}
	k.Add("qv-mine7mine7mine7", "qv-mine7mine7mine7")
	for _, r := range []Redactor{before, k.Redactor()} {
		if got, n := r.Redact(text); n != 1 || got != "bad [redacted:known-secret]" {
			t.Errorf("%q, %d redactions", got, n)
		}
	}
}

// TestKeysWhileRedacting: keys come while several goroutines redact; each is known once
// Add has returned.
func TestKeysWhileRedacting(t *testing.T) {
	var k Keys
	r := k.Redactor()
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 50 {
				key := fmt.Sprintf("plain-%d-key-%03d-of-no-form", g, i)
				k.Add(key)
				if got, n := r.Redact("it is " + key); n != 1 {
					t.Errorf("%q", got)
				}
			}
		})
	}
	all.Wait()
}
