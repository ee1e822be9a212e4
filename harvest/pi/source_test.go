package pi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/harvesttest"
	"github.com/skill-evolve/evolve/harvest/pi"
)

var update = flag.Bool("update", false, "write the golden files")

// sessions reads a whole home.
func sessions(t *testing.T, home string, c harvest.Cursor) ([]*harvest.Session, []harvest.Problem) {
	t.Helper()
	var all []*harvest.Session
	problems, err := pi.Kind.Source(home, harvest.Options{}).Sessions(context.Background(), c, func(s *harvest.Session) error {
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

// variants are recorded sessions of the real program (pi 0.87.1): what was kept
// of each, and its skill events.
var variants = []string{"anthropic", "correction", "err400", "err401", "err429", "err500", "err500text", "killed", "malformed", "parallel",
	"responses", "retry429", "secret", "sigint", "skill", "slash", "thinking", "toolerror", "truncate", "truncated-last-line"}

func TestRecorded(t *testing.T) {
	for _, name := range variants {
		t.Run(name, func(t *testing.T) {
			all, problems := sessions(t, filepath.Join("testdata", name), nil)
			if len(problems) > 0 || len(all) != 1 {
				t.Fatalf("%d sessions, problems %v", len(all), problems)
			}
			golden(t, name+".json", map[string]any{"session": all[0], "events": harvest.Events(all[0])})
		})
	}
}

// Nothing that is kept of a session holds a secret: not the prompt, not the
// answer, not what the tools saw.
func TestSecretsAreNotKept(t *testing.T) {
	all, _ := sessions(t, "testdata/secret", nil)
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"FAKEFAKE", "jane.doe@"} {
		if bytes.Contains(data, []byte(secret)) {
			t.Errorf("%q is kept in %s", secret, data)
		}
	}
	if len(all) != 1 || all[0].Redactions == 0 {
		t.Errorf("want one session with redactions, got %s", data)
	}
}

// A session that goes on is read again as a whole.
func TestResumed(t *testing.T) {
	home := t.TempDir()
	if err := os.CopyFS(home, os.DirFS("testdata/skill")); err != nil {
		t.Fatal(err)
	}
	var c harvesttest.Cursor
	all, problems := sessions(t, home, &c)
	if len(all) != 1 || len(problems) > 0 {
		t.Fatalf("%d sessions, problems %v", len(all), problems)
	}
	if again, _ := sessions(t, home, &c); len(again) != 0 {
		t.Errorf("%d sessions were read again", len(again))
	}
	f, err := os.OpenFile(all[0].Path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(typed("u9", "954012df", "no, as bars") + "\n" + said("a9", "u9", "Redrawn.") + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	grown, _ := sessions(t, home, &c)
	if len(grown) != 1 || len(grown[0].Turns) != 2 || grown[0].Turns[1].Answer != "Redrawn." || grown[0].Invocations[0].Feedback.Label != harvest.Corrected {
		t.Errorf("want the session that went on, with its new turn: %+v", grown)
	}
}

// One that cannot be read does not end the harvest of its folder.
func TestOneBadFile(t *testing.T) {
	home := t.TempDir()
	if err := os.CopyFS(home, os.DirFS("testdata/skill")); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(home, "sessions", "a.jsonl")
	if err := os.WriteFile(bad, []byte(`{"type":"session","version":9,"id":"s"}`+"\n"+typed("u1", "", "x")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, problems := sessions(t, home, nil)
	if len(all) != 1 || len(problems) != 1 || problems[0].Path != bad || problems[0].Reason != "unknown version 9 of a session" {
		t.Errorf("%d sessions, problems %+v", len(all), problems)
	}
}

func TestOptions(t *testing.T) {
	read := func(o harvest.Options) (n int) {
		_, err := pi.Kind.Source("testdata/skill", o).Sessions(context.Background(), nil, func(*harvest.Session) error { n++; return nil })
		if err != nil {
			t.Error(err)
		}
		return n
	}
	if n := read(harvest.Options{Exclude: []string{"/home/dev/*"}}); n != 0 {
		t.Errorf("%d sessions of an excluded folder", n)
	}
	if n := read(harvest.Options{Exclude: []string{"/home/other/*"}}); n != 1 {
		t.Errorf("%d sessions, want 1", n)
	}
	if n := read(harvest.Options{Since: time.Now().Add(time.Hour)}); n != 0 {
		t.Errorf("%d sessions from the future", n)
	}
	if _, err := pi.Kind.Source("testdata/skill", harvest.Options{Exclude: []string{"[a"}}).Sessions(context.Background(), nil, nil); err == nil {
		t.Error("a pattern that is none was taken")
	}
	if name := pi.Kind.Source("", harvest.Options{}).Name(); name != "pi" {
		t.Error(name)
	}
}

func TestStops(t *testing.T) {
	stop := errors.New("enough")
	_, err := pi.Kind.Source("testdata/skill", harvest.Options{}).Sessions(context.Background(), nil, func(*harvest.Session) error { return stop })
	if !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := pi.Kind.Source("testdata/skill", harvest.Options{}).Sessions(ctx, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
	if s, _, err := pi.Kind.Read(ctx, strings.NewReader(header("3")+"\n"), "x", harvest.Options{}); s != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("session %v, error %v, want the context's", s, err)
	}
}

func TestNoHome(t *testing.T) {
	all, problems := sessions(t, filepath.Join(t.TempDir(), "none"), nil)
	if len(all)+len(problems) != 0 {
		t.Errorf("%d sessions, problems %v", len(all), problems)
	}
}

// What is no session at all does not end the harvest of its folder.
func TestUnreadableFiles(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "sessions/--p--")
	if err := os.MkdirAll(filepath.Join(dir, "a.jsonl"), 0o700); err != nil { // a folder by that name
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"b": "\x7fELF\x00\x01\x02\n\xff\xfe", "c": "", "d": header("3") + "\n" + typed("u1", "", "hello there") + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, ""+name+".jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "e.jsonl")); err != nil {
		t.Fatal(err)
	}
	all, problems := sessions(t, home, nil)
	if len(all) != 1 || all[0].Turns[0].Prompt != "hello there" || len(problems) != 1 || problems[0].Line != 1 {
		t.Errorf("%d sessions, problems %+v", len(all), problems)
	}
}

// The folders of all headers are known.
func TestFolders(t *testing.T) {
	other := strings.Replace(header("3"), "/home/dev/project", "/client-x", 1)
	s, _ := read(t, header("3"), typed("a", "", "plot it"), other, said("b", "a", "done"))
	if want := []string{"/home/dev/project", "/client-x"}; !slices.Equal(s.Folders, want) || s.CWD != want[0] {
		t.Errorf("worked in %q, want %q", s.Folders, want)
	}
}
