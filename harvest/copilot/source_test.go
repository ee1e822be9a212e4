package copilot_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/copilot"
	"github.com/skill-evolve/evolve/harvest/harvesttest"
)

var update = flag.Bool("update", false, "write the golden files")

// sessions reads a whole home.
func sessions(t *testing.T, home string, c harvest.Cursor) ([]*harvest.Session, []harvest.Problem) {
	t.Helper()
	return readHome(t, home, harvest.Options{}, c)
}

func readHome(t *testing.T, home string, o harvest.Options, c harvest.Cursor) ([]*harvest.Session, []harvest.Problem) {
	t.Helper()
	var all []*harvest.Session
	problems, err := copilot.Kind.Source(home, o).Sessions(context.Background(), c, func(s *harvest.Session) error {
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, problems
}

// Sessions of the real program, one home each: what is kept of each, and its
// skill events. What the detectors find is their own tests' business.
func TestGolden(t *testing.T) {
	homes, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, home := range homes {
		name := home.Name()
		if name == "golden" {
			continue
		}
		n++
		t.Run(name, func(t *testing.T) {
			all, problems := readHome(t, filepath.Join("testdata", name), harvest.Options{Redactor: plain{}, Exists: every}, nil)
			if len(problems) > 0 || len(all) != 1 {
				t.Fatalf("%d sessions, problems: %v", len(all), problems)
			}
			data, err := json.MarshalIndent(struct {
				Session *harvest.Session
				Events  harvest.Sidecar
			}{all[0], harvest.Events(all[0])}, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			data = append(data, '\n')
			file := filepath.Join("testdata", "golden", name+".json")
			if *update {
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
		})
	}
	if n != 21 {
		t.Errorf("%d homes, want 21", n)
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
	if bytes.Contains(data, []byte("FAKEFAKE")) {
		t.Errorf("a key is kept in %s", data)
	}
	if all[0].Redactions == 0 {
		t.Error("no redactions were counted")
	}
}

func TestCursor(t *testing.T) {
	home := t.TempDir()
	if err := os.CopyFS(home, os.DirFS("testdata/skill")); err != nil {
		t.Fatal(err)
	}
	var c harvesttest.Cursor
	if all, _ := sessions(t, home, &c); len(all) != 1 || len(all[0].Turns) != 1 {
		t.Fatalf("%d sessions, want 1 of one turn", len(all))
	}
	if all, _ := sessions(t, home, &c); len(all) != 0 {
		t.Errorf("%d sessions were read again", len(all))
	}
	f, err := os.OpenFile(filepath.Join(home, "session-state/ecb5a5fe-899a-4791-a484-14513193d9df/events.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(said("u9", "thanks, that works") + "\n"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if all, _ := sessions(t, home, &c); len(all) != 1 || len(all[0].Turns) != 2 {
		t.Errorf("want the session that grew, with its new turn")
	}
}

// A folder without events, one whose events are a folder, and a home that is
// not there are no sessions; workspace.yaml tells what the events do not.
func TestFolders(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{
		"a/workspace.yaml":    "cwd: /x\n",
		"b/events.jsonl":      said("u1", "hello there") + "\n",
		"b/workspace.yaml":    "id: b\ncwd: /home/dev/shop\nbranch: main\n",
		"c/events.jsonl":      said("u2", "hello here") + "\n",
		"c/workspace.yaml":    "\t: [",
		"d/events.jsonl/none": "",
		"e/events.jsonl":      "",
	} {
		file := filepath.Join(home, "session-state", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, problems := sessions(t, home, nil)
	if len(all) != 2 || len(problems) != 0 {
		t.Fatalf("%d sessions, problems %v", len(all), problems)
	}
	if s := all[0]; s.ID != "b" || s.CWD != "/home/dev/shop" || s.Branch != "main" {
		t.Errorf("%+v", s)
	}
	if s := all[1]; s.ID != "c" || s.CWD != "" {
		t.Errorf("%+v", s)
	}
	if all, problems := sessions(t, filepath.Join(home, "none"), nil); len(all)+len(problems) != 0 {
		t.Errorf("%d sessions, problems %v", len(all), problems)
	}
	if err := os.WriteFile(filepath.Join(home, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, problems := sessions(t, filepath.Join(home, "file"), nil); len(problems) != 1 || !strings.Contains(problems[0].Reason, "not a directory") {
		t.Errorf("problems %v", problems)
	}
}

func TestOptions(t *testing.T) {
	for name, c := range map[string]struct {
		harvest.Options
		want int
	}{
		"all":            {harvest.Options{}, 1},
		"excluded":       {harvest.Options{Exclude: []string{"/home/dev/*"}}, 0},
		"another folder": {harvest.Options{Exclude: []string{"/home/other"}}, 1},
		"from now on":    {harvest.Options{Since: time.Now().Add(time.Hour)}, 0},
	} {
		n := 0
		_, err := copilot.Kind.Source("testdata/skill", c.Options).Sessions(context.Background(), nil, func(*harvest.Session) error { n++; return nil })
		if err != nil || n != c.want {
			t.Errorf("%s: %d sessions, error %v", name, n, err)
		}
	}
}

// The folders of a session that moved, or was resumed elsewhere, are known.
func TestWorkedIn(t *testing.T) {
	s, _ := read(t, event("session.start", "0", 0, `"sessionId":"abc","context":{"cwd":"/p"}`), said("u", "chart"),
		event("session.context_changed", "1", 1, `"cwd":"/client-x","gitRoot":"/"`), event("session.resume", "2", 2, `"context":{"cwd":"/q"}`))
	if want := []string{"/p", "/client-x", "/q"}; !slices.Equal(s.Folders, want) || s.CWD != want[0] {
		t.Errorf("worked in %q, want %q", s.Folders, want)
	}
}
