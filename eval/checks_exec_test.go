package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval/agent/process"
)

// The programs' runner imports nothing of ours: here it is the real one.
var _ ProgramRunner = process.Programs{}

// How long a program may take decides what it scores, and so may its sandbox.
func TestIdentityOfPrograms(t *testing.T) {
	ids := make(map[string]bool)
	for _, g := range []*Checks{
		{},
		{TrustExec: true, Programs: process.Programs{}},
		{TrustExec: true, Programs: process.Programs{}, ExecTimeout: time.Hour},
		{TrustExec: true, Programs: process.Programs{Bare: true}},
		{TrustExec: true, Programs: process.Programs{Readable: []string{"/opt/tools"}}},
	} {
		ids[g.Identity()] = true
	}
	if len(ids) != 5 {
		t.Errorf("identities are the same: %v", ids)
	}
}

// A program sees its workspace, and neither another folder nor a home.
func TestExecutingChecksInSandbox(t *testing.T) {
	if err := process.Available(); err != nil {
		t.Skip(err)
	}
	dir, home := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "secret"), []byte("canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	c := &Case{ID: "1", Skill: "s", Prompt: "p", Checks: []Check{
		{Type: Command, Command: []string{"sh", "-c", "touch made"}},
		{Type: Command, Command: []string{"sh", "-c", `! cat "$1/secret" && ! ls "$1" && test "$HOME" = /tmp`, "sh", home}}, // a file that the owner names may be read
		{Type: Exec, Command: []string{"sh", "-c", `cat >/dev/null; test -f made && echo '{"score":1}'`}},
	}}
	g, err := (&Checks{TrustExec: true, Programs: process.Programs{}}).Grade(t.Context(), c, Attempt{Answer: "x"}, dir)
	if err != nil || g.Quality != 1 {
		t.Errorf("grade = %+v, %v", g, err)
	}
}

func TestExecutingChecks(t *testing.T) {
	dir := t.TempDir()
	sh := func(kind, script string) *Case {
		return &Case{ID: "1", Skill: "s", Prompt: "p", Checks: []Check{{Type: kind, Command: []string{"sh", "-c", script}}}}
	}
	if _, err := new(Checks).Grade(t.Context(), sh(Command, "touch made"), Attempt{Answer: "x"}, dir); err == nil ||
		!strings.Contains(err.Error(), "--trust-checks") {
		t.Errorf("err = %v, want a refusal", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "made")); err == nil {
		t.Error("the program ran all the same")
	}
	if _, err := (&Checks{TrustExec: true}).Grade(t.Context(), sh(Command, "true"), Attempt{Answer: "x"}, dir); err == nil ||
		!strings.Contains(err.Error(), "no sandbox") {
		t.Errorf("err = %v, want a refusal: nothing runs programs", err)
	}
	t.Setenv("EVOLVE_TEST_KEY", "sk-secret")
	for _, c := range []struct {
		name    string
		check   *Case
		dir     string
		score   float64
		missing bool
		says    string
	}{
		{"command", sh(Command, "pwd > here && test -f here"), dir, 1, false, ""},
		{"command fails", sh(Command, "echo went wrong >&2; exit 3"), dir, 0, false, "went wrong"},
		{"command hangs", sh(Command, "exec sleep 60"), dir, 0, false, "did not end in time"},
		{"command without workspace", sh(Command, "true"), "", 0, false, "no workspace"},
		{"command is killed", sh(Command, "kill -9 $$"), dir, 0, false, "exit status -1"},
		{"command prints much", sh(Command, "seq 1 1000000; echo end; exit 1"), dir, 0, false, "\n1000000\nend\n"},
		{"no such program", &Case{ID: "1", Checks: []Check{{Type: Command, Command: []string{"/no/such"}}}}, dir, 0, true, "no such file"},
		{"our keys are not in its environment", sh(Command, `test -z "$EVOLVE_TEST_KEY"`), dir, 1, false, ""},
		{"exec", sh(Exec, `grep -q '"answer":"forty-two"' && echo '{"score":0.25,"feedback":"meh"}'`), dir, 0.25, false, "meh"},
		{"exec fails", sh(Exec, "echo broken >&2; exit 1"), dir, 0, true, "broken"},
		{"exec hangs", sh(Exec, "exec sleep 60"), dir, 0, true, "did not end in time"},
		{"exec prints no JSON", sh(Exec, "echo fine"), dir, 0, true, "one JSON object"},
		{"exec prints no score", sh(Exec, "echo '{}'"), dir, 0, true, "no score"},
	} {
		t.Run(c.name, func(t *testing.T) {
			limit := 20 * time.Second
			if strings.Contains(c.name, "hangs") {
				limit = 50 * time.Millisecond
			}
			g, err := (&Checks{TrustExec: true, Programs: process.Programs{Bare: true}, ExecTimeout: limit}).Grade(t.Context(), c.check, Attempt{Answer: "forty-two"}, c.dir)
			if err != nil {
				t.Fatal(err)
			}
			k := g.Checks[0]
			if k.Score != c.score || k.Missing != c.missing || !strings.Contains(k.Evidence, c.says) {
				t.Errorf("check = %+v, want score %v, missing %v, %q", k, c.score, c.missing, c.says)
			}
			if !k.Missing && (k.Feedback == "") != (k.Score == 1) {
				t.Errorf("feedback = %q for score %v", k.Feedback, k.Score)
			}
		})
	}
}
