package claude_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/claude"
	"github.com/skill-evolve/evolve/harvest/harvesttest"
)

var update = flag.Bool("update", false, "write the golden files")

// sessions reads a whole home.
func sessions(t *testing.T, home string, c harvest.Cursor) ([]*harvest.Session, []harvest.Problem) {
	t.Helper()
	var all []*harvest.Session
	problems, err := claude.Kind.Source(home, harvest.Options{}).Sessions(context.Background(), c, func(s *harvest.Session) error {
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, problems
}

func golden(t *testing.T, name string, got any) {
	t.Helper()
	data, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	data = append(data, '\n')
	file := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, want) {
		t.Errorf("%s differs (go test -update writes it):\n%s", file, data)
	}
}

// One person's folder, recorded from the real program: an uncorrected use, two
// corrected ones, typed commands, tool errors.
func TestInteractive(t *testing.T) {
	all, problems := sessions(t, "testdata/interactive/.claude", nil)
	if len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
	golden(t, "interactive.json", all)
}

// What a program drove, and what else one person's folder does not show: a
// message that came mid-turn, an interruption, API errors, an older version, a
// file that ends in half a line.
func TestHeadless(t *testing.T) {
	for _, name := range []string{"multi", "sigint", "err401b", "retry429", "old", "truncated-last-line", "slash", "coll"} {
		t.Run(name, func(t *testing.T) {
			all, problems := sessions(t, filepath.Join("testdata/headless", name, ".claude"), nil)
			if len(problems) > 0 {
				t.Errorf("problems: %v", problems)
			}
			for _, s := range all {
				if !s.Headless {
					t.Errorf("%s: not headless", s.Path)
				}
			}
			golden(t, name+".json", all)
		})
	}
}

func TestSubagent(t *testing.T) {
	all, _ := sessions(t, "testdata/subagent/.claude", nil)
	if len(all) != 2 || all[0].Subagent != "" || all[1].Subagent != "ae4736369e439e1d4" || all[1].ID != all[0].ID+"/ae4736369e439e1d4" {
		t.Errorf("want a session, then its subagent's")
	}
	golden(t, "subagent.json", all)
}

// Nothing that is kept of a session holds a secret: not the prompt, not the
// answer, not what the tools saw.
func TestSecretsAreNotKept(t *testing.T) {
	all, _ := sessions(t, "testdata/secret/.claude", nil)
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"FAKEFAKE", "jane.doe@"} {
		if bytes.Contains(data, []byte(secret)) {
			t.Errorf("%q is kept in %s", secret, data)
		}
	}
	if len(all) != 1 || all[0].Redactions != 2 {
		t.Errorf("want one session with 2 redactions, got %s", data)
	}
}

func TestCursor(t *testing.T) {
	home := t.TempDir()
	if err := os.CopyFS(home, os.DirFS("testdata/interactive/.claude")); err != nil {
		t.Fatal(err)
	}
	var c harvesttest.Cursor
	if all, _ := sessions(t, home, &c); len(all) != 5 {
		t.Fatalf("%d sessions, want 5", len(all))
	}
	if all, _ := sessions(t, home, &c); len(all) != 0 {
		t.Errorf("%d sessions were read again", len(all))
	}
	grown := filepath.Join(home, "projects/-home-dev-project/6a810614-85c2-43bd-a744-1ee32bebda86.jsonl")
	f, err := os.OpenFile(grown, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(typed("p9", "u9", "thanks, that works") + "\n"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	all, _ := sessions(t, home, &c)
	if len(all) != 1 || len(all[0].Turns) != 2 {
		t.Errorf("want the session that grew, with its new turn")
	}
}

func TestOptions(t *testing.T) {
	read := func(o harvest.Options) (n int) {
		_, err := claude.Kind.Source("testdata/interactive/.claude", o).Sessions(context.Background(), nil, func(*harvest.Session) error { n++; return nil })
		if err != nil {
			t.Error(err)
		}
		return n
	}
	if n := read(harvest.Options{Exclude: []string{"/home/dev/*"}}); n != 0 {
		t.Errorf("%d sessions of an excluded folder", n)
	}
	if n := read(harvest.Options{Exclude: []string{"proj*"}}); n != 0 {
		t.Errorf("%d sessions of a folder excluded by name", n)
	}
	if n := read(harvest.Options{Exclude: []string{"/home/dev"}}); n != 0 {
		t.Errorf("%d sessions below an excluded folder", n)
	}
	if n := read(harvest.Options{Exclude: []string{"/home/other/*"}}); n != 5 {
		t.Errorf("%d sessions, want all 5", n)
	}
	if n := read(harvest.Options{Since: time.Now().Add(time.Hour)}); n != 0 {
		t.Errorf("%d sessions from the future", n)
	}
	if _, err := claude.Kind.Source("testdata", harvest.Options{Exclude: []string{"[a"}}).Sessions(context.Background(), nil, nil); err == nil {
		t.Error("a pattern that is none was taken")
	}
}

func TestStops(t *testing.T) {
	stop := errors.New("enough")
	n := 0
	_, err := claude.Kind.Source("testdata/interactive/.claude", harvest.Options{}).Sessions(context.Background(), nil, func(*harvest.Session) error { n++; return stop })
	if n != 1 || !errors.Is(err, stop) {
		t.Errorf("%d sessions, error %v", n, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := claude.Kind.Source("testdata/interactive/.claude", harvest.Options{}).Sessions(ctx, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}

func TestNoHome(t *testing.T) {
	all, problems := sessions(t, filepath.Join(t.TempDir(), "none"), nil)
	if len(all)+len(problems) != 0 {
		t.Errorf("%d sessions, problems %v", len(all), problems)
	}
}

// A file that is no transcript at all does not end the harvest of its folder.
func TestUnreadableFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "projects", "-p")
	if err := os.MkdirAll(filepath.Join(dir, "a.jsonl"), 0o700); err != nil { // a folder by that name
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"b.jsonl": "\x7fELF\x00\x01\x02\n\xff\xfe", "c.jsonl": "", "d.jsonl": typed("p", "u", "hello there") + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "e.jsonl")); err != nil {
		t.Fatal(err)
	}
	all, problems := sessions(t, filepath.Dir(filepath.Dir(dir)), nil)
	if len(all) != 1 || all[0].Turns[0].Prompt != "hello there" || len(problems) != 1 || problems[0].Line != 1 {
		t.Errorf("%d sessions, problems %+v", len(all), problems)
	}
}
