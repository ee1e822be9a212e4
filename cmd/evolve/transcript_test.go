package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/testscript"
)

// A transcript holds what every command of a script said: its exit code, its
// stderr and, of --json, its stdout. testdata/transcript has one for each script,
// so that a change of the code that is meant to change nothing is seen to change
// nothing. `go test ./cmd/evolve -run TestScripts -update` rewrites them.

const transcriptVar = "EVOLVE_TEST_TRANSCRIPT"

// varyingInTranscript is what differs between two runs beside varying. Progress
// lines, which end with the time elapsed, come by the clock and are left out.
var varyingInTranscript = []struct {
	is  *regexp.Regexp
	say string
}{
	{regexp.MustCompile(`(?m)^.*, \d+:\d\d\n`), ""},
	{regexp.MustCompile(`"minutes": [\d.]+`), `"minutes": 0`},
	{regexp.MustCompile(`"(latency_ms|wall_ms|duration_ms)": [\d.]+`), `"$1": 0`},
	{regexp.MustCompile(`\b\d{8}[-T]\d{6}(\.\d+|-\d+)?\b`), "STAMP"},
	{regexp.MustCompile(`/edit-\d+/`), "/edit-N/"},
	{regexp.MustCompile(`(takes about )\d+( unseen requests, a third \(\d+\) about )\d+`), "${1}N${2}N"}, // by how much the time of answers varied
	{regexp.MustCompile(`(once that is reached, about )\d+( other requests)`), "${1}N${2}"},
	{regexp.MustCompile(`/go-test-script\d+/`), "/DIR/"},
}

// longest is how much of one command's words is kept, in bytes; of more, a hash
// holds the rest.
const longest = 16 << 10

// recordScript appends one command to the transcript of its script.
func recordScript(args []string, code int, stdout, stderr string) {
	name := os.Getenv(transcriptVar)
	if name == "" || os.Getenv("EVOLVE_TEST_RAW") != "" {
		return
	}
	line := strings.ReplaceAll(strings.Join(args, " "), os.Getenv("EVOLVE_TEST_WORK"), "WORK")
	for _, v := range varying {
		line = v.is.ReplaceAllString(line, v.say)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "$ evolve %s\nexit %d\n", line, code)
	b.WriteString(stderr)
	if slices.Contains(args, "--json") {
		b.WriteString(stdout)
	}
	said := b.String()
	for _, v := range varyingInTranscript {
		said = v.is.ReplaceAllString(said, v.say)
	}
	if len(said) > longest {
		cut := said[:strings.LastIndexByte(said[:longest], '\n')+1]
		said = fmt.Sprintf("%s… %d bytes, sha256 %x\n", cut, len(said), sha256.Sum256([]byte(said)))
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(said)
		f.Close()
	}
	if err != nil {
		panic(err)
	}
}

// holdTranscript compares a script's transcript with the stored one at its end.
func holdTranscript(e *testscript.Env) {
	name := filepath.Join(e.WorkDir, ".transcript")
	e.Setenv(transcriptVar, name)
	golden, err := filepath.Abs(filepath.Join("testdata", "transcript", strings.TrimPrefix(filepath.Base(e.WorkDir), "script-")+".txt"))
	if err != nil {
		e.T().Fatal(err)
	}
	e.Defer(func() {
		got, err := os.ReadFile(name)
		if err != nil {
			return // no command ran
		}
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				e.T().Fatal(err)
			}
			return
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			e.T().Fatal(err)
		}
		if d := diff.Diff("testdata/transcript", want, "now", got); len(d) > 0 {
			e.T().Fatal(string(d))
		}
	})
}
