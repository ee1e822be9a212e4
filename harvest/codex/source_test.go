package codex_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/codex"
	"github.com/skill-evolve/evolve/harvest/harvesttest"
	"github.com/skill-evolve/evolve/harvest/jsonl"
)

var update = flag.Bool("update", false, "write the golden files")

// sessions reads a whole home.
func sessions(t *testing.T, home string, c harvest.Cursor) ([]*harvest.Session, []harvest.Problem) {
	t.Helper()
	var all []*harvest.Session
	problems, err := codex.Kind.Source(home, harvest.Options{Exists: every}).Sessions(context.Background(), c, func(s *harvest.Session) error {
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

// variants are recorded sessions of the real program (codex exec 0.169.0): what
// was kept of each, and its skill events.
var variants = []string{"coll", "correction", "dollar", "err400", "err401", "err429", "err500", "killed", "malformed", "parallel",
	"retry429", "sandbox", "secret", "sigint", "skill", "slashm", "thinking", "toolerror", "truncate", "truncated-last-line"}

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

// A session that is archived, and one that goes on.
func TestArchivedAndResumed(t *testing.T) {
	home := t.TempDir()
	if err := os.CopyFS(home, os.DirFS("testdata/skill")); err != nil {
		t.Fatal(err)
	}
	live, _ := jsonl.Find(filepath.Join("testdata", "dollar"), 4, func(string) bool { return true })
	data, err := os.ReadFile(live[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(home, "archived_sessions"), 0o700); err != nil {
		t.Fatal(err)
	}
	archived := filepath.Join(home, "archived_sessions", filepath.Base(live[0]))
	if err := os.WriteFile(archived, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "archived_sessions", "notes.jsonl"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	var c harvesttest.Cursor
	all, problems := sessions(t, home, &c)
	if len(all) != 2 || all[0].Path != archived || len(problems) > 0 {
		t.Fatalf("%d sessions, problems %v", len(all), problems)
	}
	if again, _ := sessions(t, home, &c); len(again) != 0 {
		t.Errorf("%d sessions were read again", len(again))
	}
	f, err := os.OpenFile(all[1].Path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(strings.Join([]string{started("t9"), typed("t9", "m9", "no, as bars"), said("m10", "Redrawn."), completed("t9", 7)}, "\n") + "\n"); err != nil {
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

func TestOptions(t *testing.T) {
	read := func(o harvest.Options) (n int) {
		_, err := codex.Kind.Source("testdata/skill", o).Sessions(context.Background(), nil, func(*harvest.Session) error { n++; return nil })
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
	if _, err := codex.Kind.Source("testdata/skill", harvest.Options{Exclude: []string{"[a"}}).Sessions(context.Background(), nil, nil); err == nil {
		t.Error("a pattern that is none was taken")
	}
	if name := codex.Kind.Source("", harvest.Options{}).Name(); name != "codex" {
		t.Error(name)
	}
}

func TestStops(t *testing.T) {
	stop := errors.New("enough")
	_, err := codex.Kind.Source("testdata/skill", harvest.Options{}).Sessions(context.Background(), nil, func(*harvest.Session) error { return stop })
	if !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := codex.Kind.Source("testdata/skill", harvest.Options{}).Sessions(ctx, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
	if s, _, err := codex.Kind.Read(ctx, strings.NewReader(started("t")+"\n"), "x", harvest.Options{}); s != nil || !errors.Is(err, context.Canceled) {
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
	dir := filepath.Join(home, "sessions/2026/11/20")
	if err := os.MkdirAll(filepath.Join(dir, "rollout-a.jsonl"), 0o700); err != nil { // a folder by that name
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"b": "\x7fELF\x00\x01\x02\n\xff\xfe", "c": "", "d": started("t1") + "\n" + typed("t1", "m1", "hello there") + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, "rollout-"+name+".jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "rollout-e.jsonl")); err != nil {
		t.Fatal(err)
	}
	all, problems := sessions(t, home, nil)
	if len(all) != 1 || all[0].Turns[0].Prompt != "hello there" || len(problems) != 1 || problems[0].Line != 1 {
		t.Errorf("%d sessions, problems %+v", len(all), problems)
	}
}

// packed compresses a file in its place, as Codex does with old rollouts.
func packed(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file+".zst", w.EncodeAll(data, nil), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Codex compresses a rollout that is some days old. It is the same session under the
// same path, and is read once more because its file is another one; if both files
// exist, it is read once.
func TestCompressed(t *testing.T) {
	home := t.TempDir()
	if err := os.CopyFS(home, os.DirFS("testdata/skill")); err != nil {
		t.Fatal(err)
	}
	var c harvesttest.Cursor
	plain, problems := sessions(t, home, &c)
	if len(plain) != 1 || len(problems) > 0 {
		t.Fatalf("%d sessions, problems %v", len(plain), problems)
	}
	file := plain[0].Path
	packed(t, file)
	if both, _ := sessions(t, home, nil); len(both) != 1 {
		t.Errorf("%d sessions of a rollout and the same compressed", len(both))
	}
	if again, _ := sessions(t, home, &c); len(again) != 0 {
		t.Errorf("%d sessions were read again", len(again))
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	all, problems := sessions(t, home, &c)
	if len(all) != 1 || len(problems) > 0 || !reflect.DeepEqual(all[0], plain[0]) {
		t.Fatalf("%d sessions, problems %v; want the one before", len(all), problems)
	}
	if again, _ := sessions(t, home, &c); len(again) != 0 {
		t.Errorf("%d sessions were read again", len(again))
	}
	// Cut off by a power loss: that is a problem. An incomplete block cannot be read,
	// and this file has only one.
	data, err := os.ReadFile(file + ".zst")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file+".zst", data[:len(data)-3], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, problems := sessions(t, home, &c); len(problems) != 1 || !strings.Contains(problems[0].Reason, "cut off") {
		t.Errorf("problems %v", problems)
	}
	if err := os.WriteFile(file+".zst", []byte("no frame at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, problems := sessions(t, home, &c); len(all) != 0 || len(problems) != 1 || problems[0].Path != file || !strings.Contains(problems[0].Reason, "unpack") {
		t.Errorf("%d sessions, problems %v", len(all), problems)
	}
}

// Of a rollout that is there twice, what has more entries is read: Codex may have
// been killed while it unpacked one.
func TestCompressedBesideLess(t *testing.T) {
	for _, c := range []struct {
		name          string
		plain, packed func(text string) string
		archived      bool // the compressed one is in another folder
	}{
		{"a file that was being unpacked", func(s string) string { return s[:len(s)/3] }, func(s string) string { return s }, false},
		{"an empty one", func(string) string { return "" }, func(s string) string { return s }, false},
		{"one in the archive", func(s string) string { return s[:len(s)/3] }, func(s string) string { return s }, true},
		{"one that went on", func(s string) string { return s }, func(s string) string { return s[:len(s)/3] }, false},
		{"line feeds", func(s string) string { return s }, func(string) string { return strings.Repeat("\n", 1000) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			if err := os.CopyFS(home, os.DirFS("testdata/skill")); err != nil {
				t.Fatal(err)
			}
			whole, _ := sessions(t, home, nil)
			if len(whole) != 1 {
				t.Fatalf("%d sessions", len(whole))
			}
			file := whole[0].Path
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(c.packed(string(text))), 0o600); err != nil {
				t.Fatal(err)
			}
			packed(t, file)
			if c.archived {
				archive := filepath.Join(home, "archived_sessions")
				if err := errors.Join(os.Mkdir(archive, 0o700), os.Rename(file+".zst", filepath.Join(archive, filepath.Base(file)+".zst"))); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(file, []byte(c.plain(string(text))), 0o600); err != nil {
				t.Fatal(err)
			}
			all, problems := sessions(t, home, nil)
			if len(all) != 1 || len(all[0].Turns) != len(whole[0].Turns) || all[0].Uses() != whole[0].Uses() || len(problems) > 0 {
				t.Errorf("%d sessions, problems %v", len(all), problems)
			}
		})
	}
}

// The folders of turns, and of a session that was forked, are known too.
func TestFolders(t *testing.T) {
	turn := func(cwd string) string {
		return record("turn_context", `{"turn_id":"t","disabled_plugin_ids":[],"cwd":"`+cwd+`","model":"gpt"}`)
	}
	fork := strings.Replace(opened(`"cli"`), "/home/dev/project", "/parent", 1)
	s, _ := read(t, opened(`"cli"`), fork, turn("/home/dev/project"), typed("t1", "m1", "plot it"), turn("/client-x"), turn("/client-x"), typed("t2", "m2", "thanks"))
	if want := []string{"/home/dev/project", "/parent", "/client-x"}; !slices.Equal(s.Folders, want) || s.CWD != want[0] {
		t.Errorf("worked in %q, want %q", s.Folders, want)
	}
}
