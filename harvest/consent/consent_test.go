package consent

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/skill-evolve/evolve/harvest/work"
)

func TestDecisions(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	for _, name := range []string{"shop", "shop/secret", "client"} {
		if err := os.MkdirAll(at(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("client"), at("shop", "link")); err != nil {
		t.Fatal(err)
	}
	path := at("data", "projects.yaml")
	d, err := Read(path)
	if err != nil || d.Asked() || d.MayRead([]string{at("shop")}) || d.MayRead(nil) {
		t.Fatalf("without a file: %+v, %v", d, err)
	}
	d.Allow(at("shop"), "openai")
	d.Deny(at("shop", "secret"))
	if err := d.Write(path); err != nil {
		t.Fatal(err)
	}
	if d, err = Read(path); err != nil || !d.Asked() {
		t.Fatal(d, err)
	}
	for _, c := range []struct {
		folders  []string
		vendor   string
		read, to bool
	}{
		{[]string{at("shop")}, "anthropic", true, true},
		{[]string{at("shop", "gone", "deep")}, "openai", true, true},
		{[]string{at("shop")}, "google", true, false},
		{[]string{at("shop")}, "", true, true},
		{[]string{at("shop", "secret")}, "anthropic", false, false},
		{[]string{at("shop", "secret", "..", "secret", "x")}, "", false, false},
		{[]string{at("shop", "link")}, "anthropic", false, false}, // it is the client's folder
		{[]string{at("shop"), at("client")}, "anthropic", false, false},
		{[]string{at("shopping")}, "anthropic", false, false},
		{nil, "anthropic", false, false},
	} {
		if got := d.MayRead(c.folders); got != c.read {
			t.Errorf("MayRead(%v) = %v", c.folders, got)
		}
		if got := d.MaySend(c.folders, "anthropic", c.vendor); got != c.to {
			t.Errorf("MaySend(%v, anthropic, %q) = %v", c.folders, c.vendor, got)
		}
	}
	d.All = true
	if !d.MayRead(nil) || !d.MayRead([]string{at("client")}) || d.MayRead([]string{at("shop", "secret")}) || d.MaySend(nil, "", "openai") {
		t.Error("all: what no rule denies is read, and sent to nobody else")
	}
	if err := os.WriteFile(path, []byte("projets: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil {
		t.Error("an unknown key was passed over")
	}
	for _, text := range []string{"", "null\n", "# nothing\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if d, err := Read(path); err == nil || !strings.Contains(err.Error(), "is empty") {
			t.Errorf("%q is a decision: %+v, %v", text, d, err)
		}
	}
}

// Decisions that are made at the same time are all kept.
func TestUpdate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "projects.yaml")
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if err := Update(path, func(d *Decisions) error { d.Deny(fmt.Sprintf("/client/%d", i)); return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if d, err := Read(path); err != nil || len(d.Rules) != 20 {
		t.Errorf("%+v, %v", d, err)
	}
	if err := Update(path, func(d *Decisions) error { d.AllowAll(); return fs.ErrInvalid }); err != fs.ErrInvalid {
		t.Error(err)
	}
	if d, err := Read(path); err != nil || d.All {
		t.Errorf("a change that failed was written: %+v, %v", d, err)
	}
}

// A choice of how much is kept of agents' work is made after that of projects: beside
// requests that were seen it is no reason to ask again.
func TestMomentsAreAskedLater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "projects.yaml")
	level := work.Commands
	if err := Update(path, func(d *Decisions) error {
		d.Moments, d.Seen = &level, []Request{{"mine", "openai"}}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	d, err := Read(path)
	if err != nil || !d.Asked() || d.Moments == nil || *d.Moments != work.Commands {
		t.Errorf("%+v, %v", d, err)
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "moments: commands\n") {
		t.Errorf("%s, %v", text, err)
	}
	if err := os.WriteFile(path, []byte("all: true\nmoments: some\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil {
		t.Error("an unknown level was passed over")
	}
}
