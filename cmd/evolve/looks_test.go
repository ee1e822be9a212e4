package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/help"
	"github.com/skill-evolve/evolve/eval/scratch"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/install"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/spf13/cobra"
)

// writers are the commands that write, by their paths. With lookers they are all that
// there are.
var writers = []string{
	"", "run", "init", "demo", "harvest", "cases import", "cases edit", "cases drop", "cases draw", "cases generate", "promote", "try", "rollback",
	"approve", "reject", "pin", "compare", "check", "review", "sessions show", "sessions purge", "kernel confirm", "kernel probes",
	"corrections", "suggest", "privacy agree", "projects allow", "projects deny", "projects tests", "sleep run", "sleep install", "sleep uninstall", "hooks install", "hooks uninstall", "hooks new", "hooks test", "hooks learn", "hook", "fleet serve", "fleet invite", "fleet revoke", "fleet prepare", "worker",
}

// TestEveryCommandLooksOrWrites: every command must be classified.
func TestEveryCommandLooksOrWrites(t *testing.T) {
	var all []string
	root := newRoot(newGlobal(nil, new(bytes.Buffer), new(bytes.Buffer)))
	help.Each(root, func(c *cobra.Command) {
		if c.Runnable() && c.Name() != "panic-for-test" { // else it is a page of help
			all = append(all, help.PathOf(c))
		}
	})
	for _, path := range all {
		if slices.Contains(lookers, path) == slices.Contains(writers, path) {
			t.Errorf("does %q look, or does it write?", path)
		}
	}
	for _, path := range append(lookers, writers...) {
		if !slices.Contains(all, path) {
			t.Errorf("there is no command %q", path)
		}
	}
}

// An aHome is a home with a history, and with all that a command may feel called upon
// to record, mend or tidy up.
type aHome struct {
	t        *testing.T
	root     string // of everything: the data folder, the agents' folders, temporary files
	data     string
	claude   string
	approved string // the candidate in quarantine, by the beginning of its name
}

func (h *aHome) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *aHome) write(path, text string) {
	h.t.Helper()
	h.must(os.MkdirAll(filepath.Dir(path), 0o700))
	h.must(os.WriteFile(path, []byte(text), 0o600))
}

func (h *aHome) skillFile(name string) string {
	return filepath.Join(h.claude, "skills", name, skill.FileName)
}

// lived makes a home. killed: the last process that wrote was killed, and its log is
// there.
func lived(t *testing.T, killed bool) *aHome {
	h := &aHome{t: t, claude: person(t)}
	h.root = filepath.Dir(h.claude)
	h.data = filepath.Join(h.root, "data")
	for key, value := range map[string]string{"HOME": h.root, "EVOLVE_HOME": h.data, "CLAUDE_CONFIG_DIR": h.claude, "TMPDIR": filepath.Join(h.root, "tmp"),
		"XDG_CACHE_HOME": filepath.Join(h.root, "cache"), "XDG_CONFIG_HOME": filepath.Join(h.root, "config"), "TZ": "UTC", "CODEX_HOME": "", "PI_CODING_AGENT_DIR": "", "COPILOT_HOME": "", "GEMINI_CLI_HOME": ""} {
		t.Setenv(key, value)
	}
	h.must(os.Mkdir(os.TempDir(), 0o700))
	// One session is yet to be harvested.
	session := filepath.Join(h.claude, "projects", "-home-dev-project", "03b6c89b-321c-4d58-8b09-f591caf0fb0b.jsonl")
	transcript, err := os.ReadFile(session)
	h.must(err)
	h.must(os.Remove(session))
	allowEverything(t, h.data)
	if out, errs, code := read(t, "harvest"); code != exitDone {
		t.Fatalf("harvest: exit %d: %s%s", code, out, errs)
	}
	h.must(moveIn(t.Context(), 7))

	a := newGlobal(strings.NewReader(""), new(bytes.Buffer), new(bytes.Buffer))
	db, err := a.store(t.Context())
	h.must(err)
	base := skill.HashText([]byte(swap(tablesText, "tables", "proved")))
	next := skill.HashText([]byte(swap(swap(tablesText, "tables", "proved"), "Name every column.", "Name every column, with its unit.")))
	runs, err := db.Runs(t.Context(), "held")
	h.must(err)
	held, err := db.Quarantined(t.Context(), "held")
	h.must(err)
	h.approved = held[0].SHA[:12]
	// A promotion was cut short before its rename, another one after it.
	real, err := filepath.EvalSymlinks(h.skillFile("proved"))
	h.must(err)
	_, err = db.BeginInstall(t.Context(), store.Install{Skill: "proved", Path: real, From: base, To: next, Op: store.OpPromote})
	h.must(err)
	real, err = filepath.EvalSymlinks(h.skillFile("alarmed"))
	h.must(err)
	alarmed := skill.HashText([]byte(swap(tablesText, "tables", "alarmed")))
	_, err = db.BeginInstall(t.Context(), store.Install{Skill: "alarmed", Path: real, From: base, To: alarmed, Op: store.OpPromote})
	h.must(err)
	// A removal was cut short after the SKILL.md was gone.
	left := filepath.Join(h.root, ".codex", "skills", "proved")
	h.write(filepath.Join(left, skill.FileName), swap(tablesText, "tables", "proved"))
	h.write(filepath.Join(left, "more.md"), "more\n")
	files, err := install.Survey(left)
	h.must(err)
	h.must(os.Remove(filepath.Join(left, skill.FileName)))
	ids, err := db.BeginInstalls(t.Context(), []store.Intent{{Install: store.Install{Skill: "proved", Path: filepath.Join(left, skill.FileName), To: base, Op: store.OpPromote}, Files: files}})
	h.must(err)
	h.must(db.FinishInstall(t.Context(), ids[0]))
	h.write(filepath.Join(h.data, "config.yaml"), "targets: [claude, codex]\n")
	// A run was killed: its lock, its notes and what it had made are there.
	h.write(filepath.Join(h.data, "running", runs[0].ID), `{"pid":1}`)
	h.write(filepath.Join(h.data, "install.lock"), "")
	h.write(filepath.Join(h.data, "underway", runs[0].ID+".log"), "+ k 10 0.1\n")
	ledger := scratch.Keep(h.data)
	_, err = scratch.Dir("", "evolve-case-")
	h.must(err)
	h.must(ledger.Close())
	// Hooks have noted something, and queued a transcript.
	h.must(hook.Leave(h.data, hook.Note{Skill: "proved", Kind: hook.Waiting, Time: day1, Text: "a better version waits"}))
	h.write(filepath.Join(h.data, hook.BusFile), `{"v":1,"key":"k","phase":"prompt","session":"s","event":{}}`+"\n")
	h.write(filepath.Join(h.data, "queue", "0123456789abcdef.json"), fmt.Sprintf(`{"schema":1,"session":"s","transcript":%q,"time":"2026-11-20T03:17:00Z"}`, session))

	h.must(os.WriteFile(session, transcript, 0o600))
	for _, name := range []string{"on-trial", "dataviz"} { // edits that nobody has recorded
		text, err := os.ReadFile(h.skillFile(name))
		h.must(err)
		h.must(os.WriteFile(h.skillFile(name), append(text, "\n## Mine\n\nKeep it short.\n"...), 0o600))
	}
	files2 := map[string][]byte{}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		files2[suffix], err = os.ReadFile(filepath.Join(h.data, "evolve.db") + suffix)
		h.must(err)
	}
	h.must(a.close())
	if killed {
		if len(files2["-wal"]) == 0 {
			t.Fatal("there is nothing in the log")
		}
		for suffix, b := range files2 {
			h.must(os.WriteFile(filepath.Join(h.data, "evolve.db")+suffix, b, 0o600))
		}
	}
	return h
}

// state is every file and folder, by mode, content and when it was changed. Of the index
// of the log, which processes share, it is enough that it is there.
func (h *aHome) state() map[string]string {
	h.t.Helper()
	out := map[string]string{}
	h.must(filepath.WalkDir(h.root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(h.root, path)
		out[name] = info.Mode().String()
		if strings.HasSuffix(name, "-shm") {
			return nil
		}
		out[name] += " " + info.ModTime().Format(time.RFC3339Nano)
		if e.Type().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out[name] += fmt.Sprintf(" %d bytes %x", len(b), sha256.Sum256(b))
		}
		return nil
	}))
	return out
}

// untouched fails if anything has changed.
func (h *aHome) untouched(before map[string]string, by string) {
	h.t.Helper()
	after := h.state()
	for name, was := range before {
		if now := after[name]; now != was && (name != "tmp" || now == "") { // temporary files came and went
			h.t.Errorf("%s: %s was %s, is %s", by, name, was, now)
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			h.t.Errorf("%s: %s is new", by, name)
		}
	}
}

// TestLookingChangesNothing: what only looks leaves every byte, name, mode and time of
// the data folder, the skills and the agents' folders as they were.
func TestLookingChangesNothing(t *testing.T) {
	for name, killed := range map[string]bool{"closed": false, "killed": true} {
		t.Run(name, func(t *testing.T) {
			h := lived(t, killed)
			before := h.state()
			for _, c := range []struct {
				line string
				code int
			}{
				{"", 0}, {"help", 0}, {"help sleep run", 0}, {"completion bash", 0}, {"__complete show ''", 0}, {"__complete report ''", 0},
				{"status", 0}, {"status --json", 0}, {"status --all", 0},
				{"log on-trial", 0}, {"log proved --json", 0}, {"log --run last", 0}, {"show on-trial", 0}, {"show proved@challenger --why", 0},
				{"show held@" + h.approved + " --json", 0}, {"diff proved", 0}, {"diff on-trial v0 live", 0},
				{"cases", 0}, {"cases list dataviz", 0}, {"cases show dataviz mined-e", 0}, {"cases export dataviz", 0}, {"corrections", 0}, {"corrections dataviz --json", 0}, {"suggest dataviz --agent simulated --dry-run", 0},
				{"sessions", 0}, {"sessions list", 0}, {"sessions show s-proved", 0},
				{"kernel", 0}, {"kernel show proved", 0}, {"kernel check on-trial", 0}, {"resolve $on-trial", 0},
				{"hooks", 0}, {"hooks status", 0}, {"hooks test nothing", 2}, {"hooks install --print", 0}, {"sleep", 0}, {"sleep status", 0}, {"sleep status --json", 0},
				{"doctor", 0}, {"report last -o -", 0}, {"report last --json", 0}, {"report night --json", 0},
				{"compare dataviz none --split all --agent simulated --dry-run", 0}, {"compare dataviz none --split all --recorded", 2},
				{"check on-trial --patch edited.md --no-harvest --agent simulated --dry-run", 2},
				{"cases generate --skill dataviz -n 3 --agent simulated --dry-run", 0},
				{"--skill dataviz --agent simulated --dry-run", 0}, {"run --skill dataviz --agent simulated --dry-run --json", 0},
				{"run --skill on-trial --agent simulated --dry-run", 0}, {"run --skill alarmed --agent simulated --dry-run --json", 0},
				{"--skill dataviz --agent handoff --dry-run", 0},
				{"sleep run --dry-run --agent simulated", 0}, {"sleep run --dry-run --agent simulated --json", 0},
				{"serve --port 70000", 2},
			} {
				out, errs, code := read(t, strings.Fields(strings.ReplaceAll(c.line, "''", "\x00"))...)
				if code != c.code || strings.Contains(errs, store.ErrReadOnly.Error()) {
					t.Errorf("evolve %s: exit %d: %s%s", c.line, code, out, errs)
				}
				h.untouched(before, "evolve "+c.line)
			}
		})
	}
}

// TestLookingMakesNothing: a command that only reads makes no data folder.
func TestLookingMakesNothing(t *testing.T) {
	claude, home := person(t), filepath.Join(t.TempDir(), "none")
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("CLAUDE_CONFIG_DIR", claude)
	for _, line := range []string{"status", "log dataviz", "log --run last", "show dataviz", "diff dataviz", "report last", "sessions list", "sessions show s",
		"cases list dataviz", "kernel show dataviz", "sleep status", "sleep run --dry-run --agent simulated", "hooks status", "hooks test nothing", "doctor",
		"--skill dataviz --agent simulated --dry-run", "compare dataviz none --split all --agent simulated --dry-run", "serve"} {
		t.Setenv("EVOLVE_HOME", home)
		_, errs, code := read(t, strings.Fields(line)...)
		if code == exitFailed && line != "doctor" {
			t.Errorf("evolve %s: exit %d: %s", line, code, errs)
		}
		if isThere(home) {
			t.Fatalf("evolve %s made %s", line, home)
		}
		if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(left) > 0 {
			t.Errorf("evolve %s left %q", line, left)
		}
	}
}

// TestNothingIsRecordedByWhoOnlyLooks: a write by such a command fails, with
// the reason.
func TestNothingIsRecordedByWhoOnlyLooks(t *testing.T) {
	lived(t, false)
	a := newGlobal(strings.NewReader(""), new(bytes.Buffer), new(bytes.Buffer))
	a.access = datadir.Looks
	defer a.close()
	db, err := a.store(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	live, err := a.layout().Live("on-trial")
	if err != nil {
		t.Fatal(err)
	}
	if err := installerOf(a, db).Record(context.Background(), live); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("%v, want ErrReadOnly", err)
	}
}
