package main

import (
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/agentstest"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/harvest/consent"
)

// The tests, and the programs that they start from this binary, collect garbage less
// often than the program does: with Go's own rate it takes a quarter of their time.
var _ = debug.SetGCPercent(400)

var update = flag.Bool("update", false, "rewrite the expected output in testdata/script")

func TestMain(m *testing.M) {
	commands := map[string]func(){
		// evolve is the program; values that differ from one run to the next
		// are replaced by a word in its output.
		"evolve": func() {
			stdout, stderr := &steady{w: os.Stdout}, &steady{w: os.Stderr}
			m := machine{}
			if at, err := time.Parse(time.DateOnly, os.Getenv("EVOLVE_TEST_DATE")); err == nil {
				m.clock = func() time.Time { return at }
			}
			code := run(context.Background(), m, os.Args[1:], os.Stdin, stdout, stderr)
			recordScript(os.Args[1:], code, stdout.flush(), stderr.flush())
			os.Exit(code)
		},
		// household fills a home.
		"household": household,
		"moments":   writeMoments,
		"pairs":     pairs,
		"probed":    probed,
		"sittings":  writeSittings,
		"corrected": writeCorrected,
		"overruled": writeOverruled,
		"weeksAgo":  weeksAgo,
	}
	maps.Copy(commands, agentstest.Programs)
	testscript.Main(cleaned{m}, commands)
}

// cleaned are the tests, and the removal of what they share.
type cleaned struct{ m *testing.M }

func (c cleaned) Run() int {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() != "" {
		debug.SetGCPercent(100) // what is measured is the program
	}
	defer func() { os.RemoveAll(builds) }() // it is known by then
	return c.m.Run()
}

// TestScripts plays testdata/script. Each script has a home of its own with
// the sessions of testdata/home, and lists the stdout and stderr that it
// wants.
func TestScripts(t *testing.T) {
	home, err := filepath.Abs("testdata/home")
	if err != nil {
		t.Fatal(err)
	}
	actions, err := filepath.Abs("../../.github/actions")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("EVOLVE_HOME", filepath.Join(e.WorkDir, "data"))
			e.Setenv("EVOLVE_TEST_WORK", e.WorkDir)
			e.Setenv("TZ", "UTC")
			holdTranscript(e)
			// Where the program is, for scripts that choose what else is on PATH.
			bin, _, _ := strings.Cut(os.Getenv("PATH"), string(os.PathListSeparator))
			e.Setenv("EVOLVE_BIN", bin)
			e.Setenv("ACTIONS", actions)
			if err := allowAll(filepath.Join(e.WorkDir, "data")); err != nil {
				return err
			}
			return os.CopyFS(filepath.Join(e.WorkDir, "home"), os.DirFS(home))
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"bad": bad, "code": code, "poke": poke, "fresh": fresh, "decided": decided, "mode": mode, "name": name, "await": await, "kit": kit},
	})
}

// allowAll decides for the owner of a data folder that all projects may be read, and that
// the programs of the tests, which run without a sandbox, may get their text.
func allowAll(data string) error {
	d := new(consent.Decisions)
	for _, name := range slices.Sorted(maps.Keys(agentstest.Programs)) {
		program := "command:" + name
		d.AllowAll(program)
		for _, kind := range agent.Requests {
			d.Seen = append(d.Seen, consent.Request{Kind: kind, Vendor: program})
		}
	}
	return d.Write(filepath.Join(data, "projects.yaml"))
}

// allowEverything is allowAll in a test.
func allowEverything(t testing.TB, data string) {
	t.Helper()
	if err := allowAll(data); err != nil {
		t.Fatal(err)
	}
}

// code runs a program and demands its exit code: code 2 evolve show nothing.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program [args...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("%s: exit code %s, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

// name sets a variable to what a pattern's group found in the last stdout: name
// SHA 'approve dataviz@([0-9a-f]+)'.
func name(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: name variable pattern")
	}
	m := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(m) != 2 {
		ts.Fatalf("no %q in stdout", args[1])
	}
	ts.Setenv(args[0], m[1])
}

// await waits until a file is there, as long as the test may take: await FILE.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await file")
	}
	for path := ts.MkAbs(args[0]); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
}

// decided makes a data folder whose owner has allowed all projects: decided other.
func decided(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: decided folder")
	}
	ts.Check(allowAll(ts.MkAbs(args[0])))
}

// fresh demands that nothing was written into a data folder since it was made: fresh data.
func fresh(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fresh folder")
	}
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	for _, e := range entries {
		if e.Name() != "projects.yaml" {
			ts.Fatalf("%s was written", e.Name())
		}
	}
}

// poke overwrites bytes of a file: poke FILE OFFSET HEX.
func poke(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: poke file offset hex")
	}
	at, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	b, err := hex.DecodeString(args[2])
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY, 0)
	ts.Check(err)
	_, err = f.WriteAt(b, at)
	ts.Check(errors.Join(err, f.Close()))
}

// mode demands a file's permissions: mode 600 data/evolve.db.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mode octal file")
	}
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := strconv.FormatUint(uint64(info.Mode().Perm()), 8); got != args[0] {
		ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
	}
}

// steady writes what is the same on every machine and every day.
type steady struct {
	w   io.Writer
	buf strings.Builder
}

// Write buffers its input: a word may be cut in two.
func (p *steady) Write(b []byte) (int, error) { return p.buf.Write(b) }

var varying = []struct {
	is  *regexp.Regexp
	say string
}{
	{regexp.MustCompile(`\b\d{8}-\d{6}-[0-9a-f]{6}\b`), "RUN"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`), "TIME"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d\b`), "YYYY-MM-DD"},
	{regexp.MustCompile(`, \d+(\.\d)? (min|h)(; from \d+ rollouts? of earlier runs)`), "$3"}, // which a busy machine makes long enough to be told
	{regexp.MustCompile(`\b\d+(\.\d)? (ms|s|min|h)\b`), "SOME TIME"},
	{regexp.MustCompile(`"(latency_ms|wall_ms|duration_ms)": \d+`), `"$1": 0`},
}

// flush writes what was kept, with its varying parts as words, and returns it.
func (p *steady) flush() string {
	s := p.buf.String()
	if os.Getenv("EVOLVE_TEST_RAW") == "" {
		if w := os.Getenv("EVOLVE_TEST_WORK"); w != "" {
			s = strings.ReplaceAll(s, w, "WORK")
		}
		for _, v := range varying {
			s = v.is.ReplaceAllString(s, v.say)
		}
	}
	io.WriteString(p.w, s)
	return s
}
