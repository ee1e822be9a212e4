package codex

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/agenttest"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/mutate/skill"
)

var update = flag.Bool("update", false, "write the golden attempts anew")

// clock is a time on the day on which the streams were recorded.
func clock() time.Time { return time.Date(2026, 11, 21, 2, 40, 0, 0, time.UTC) }

// ticking is a clock that goes on by a second each time it is read.
func ticking() func() time.Time {
	n := 0
	return func() time.Time {
		n++
		return clock().Add(time.Duration(n) * time.Second)
	}
}

// played is a stream that was read whole, as exec would: ended is whether the
// program ended by itself.
func played(t testing.TB, text []byte) (*run, error) {
	t.Helper()
	r := &run{stream: newStream(ticking())}
	for line := range bytes.Lines(text) {
		if err := r.line(line); err != nil {
			if !errors.Is(err, errHopeless) {
				t.Fatalf("line: %v", err)
			}
			break
		}
	}
	if !r.ended {
		return r, r.unended(1, "").err()
	}
	if r.failure != "" {
		if r.verdict = classify(r.failure, clock()); r.verdict.infra != "" {
			return r, r.verdict.err()
		}
	}
	return r, nil
}

func dataviz(t testing.TB) eval.Task {
	t.Helper()
	doc, err := skill.Parse([]byte("---\nname: dataviz\ndescription: Makes charts.\n---\n# Charts\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fires := true
	return eval.Task{Variant: eval.Variant{Name: "dataviz", Doc: doc},
		Case: &eval.Case{ID: "c", Skill: "dataviz", Prompt: "Plot it.", ShouldTrigger: &fires}}
}

// A golden is what came of a recorded stream.
type golden struct {
	Attempt *eval.Attempt `json:",omitempty"`
	Kind    eval.FailureKind
	Error   string
	ResetAt *time.Time    `json:",omitempty"`
	Wait    time.Duration `json:",omitempty"`
	Retries int
}

func TestRecordedStreams(t *testing.T) {
	files, err := filepath.Glob("testdata/streams/*.jsonl")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d recorded streams: %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r, err := played(t, text)
			got := golden{Retries: r.retries}
			var infra *eval.InfraError
			switch {
			case errors.As(err, &infra):
				got.Kind, got.Error, got.Wait = infra.Kind, infra.Err.Error(), infra.RetryAfter
				if !infra.ResetAt.IsZero() {
					got.ResetAt = &infra.ResetAt
				}
			case err != nil:
				t.Fatal(err)
			default:
				a := &Agent{now: clock}
				var ses *session
				if record, err := os.Open("testdata/sessions/" + filepath.Base(file)); err == nil {
					defer record.Close()
					ses = new(session)
					if err := ses.read(record, replay.Secrets{}); err != nil {
						t.Fatal(err)
					}
				}
				steps := ses.merge(r.steps)
				out := a.attempt(dataviz(t), r, ses, steps)
				out.Files = filesOf(nil, steps, "/home/dev/project")
				got.Attempt = &out
			}
			have, err := json.MarshalIndent(got, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			have = append(have, '\n')
			at := strings.TrimSuffix(file, ".jsonl") + ".golden.json"
			if *update {
				if err := os.WriteFile(at, have, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(at)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(have, want) {
				t.Errorf("got %s\nwant %s", have, want)
			}
		})
	}
}

func TestHopelessRetriesEndTheProgram(t *testing.T) {
	for cause, end := range map[string]bool{
		"unexpected status 401 Unauthorized: wrong key":                         true,
		"unexpected status 403 Forbidden: not in your country":                  true,
		"unexpected status 404 Not Found: no route":                             true,
		"unexpected status 503 Service Unavailable: later":                      false,
		"exceeded retry limit, last status: 429 Too Many Requests":              false,
		"stream disconnected before completion: stream closed before response":  false,
		"Connection failed: error sending request":                              false,
		"We’re currently experiencing high demand, which may cause temporary e": false,
	} {
		s := newStream(clock)
		text, err := json.Marshal(map[string]string{"type": "error", "message": "Reconnecting... 1/2 (" + cause + ")"})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.line(text); errors.Is(err, errHopeless) != end {
			t.Errorf("%s: %v", cause, err)
		}
		if s.retries != 1 {
			t.Errorf("%s: %d retries, want 1", cause, s.retries)
		}
	}
}

func TestDurationLeavesFailedCallsOut(t *testing.T) {
	r, err := played(t, []byte(`{"type":"thread.started"}
{"type":"turn.started"}
{"type":"error","message":"Reconnecting... 1/2 (stream disconnected before completion)"}
{"type":"error","message":"Reconnecting... 2/2 (stream disconnected before completion)"}
{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"x"}}
{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}
`))
	if err != nil {
		t.Fatal(err)
	}
	// A second passes before each line; two of the four were lost.
	if want := 2 * time.Second; r.took != want {
		t.Errorf("took %v, want %v", r.took, want)
	}
}

func TestUsageIsNormalised(t *testing.T) {
	for _, c := range []struct {
		in   usage
		want *eval.Usage
	}{
		{usage{Input: 120, CacheRead: 100, Output: 7, Reasoning: 3}, &eval.Usage{Input: 20, CacheRead: 100, Output: 7, Reasoning: 3}},
		{usage{Input: 120, CacheRead: 90, CacheWrite: 20, Output: 7}, &eval.Usage{Input: 10, CacheRead: 90, CacheWrite: 20, Output: 7}},
		{usage{Input: 5, CacheRead: 9, Output: 1, Reasoning: 4}, &eval.Usage{CacheRead: 5, Output: 1, Reasoning: 1}},
		{usage{}, nil},
	} {
		got := c.in.normal()
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%+v: got %+v, want %+v", c.in, got, c.want)
		}
	}
}

func TestUnwrapShell(t *testing.T) {
	for in, want := range map[string]string{
		`/bin/bash -lc 'ls data'`:               `ls data`,
		`/bin/bash -lc "echo 'scale: log' > x"`: `echo 'scale: log' > x`,
		`/bin/zsh -lc pwd`:                      `pwd`,
		`/bin/bash -lc 'it'\''s'`:               `it's`,
		`/bin/bash -lc "printf \"%s\" \$HOME"`:  `printf "%s" $HOME`,
		`/bin/bash -lc 'a'"b"'c'`:               `abc`,
		`python3 -c 'x' -lc y`:                  `python3 -c 'x' -lc y`,
		`ls`:                                    `ls`,
		``:                                      ``,
		`/bin/bash -lc "printf 'K=%s\\\\n' [secret]"`: `printf 'K=%s\\n' [secret]`,
	} {
		if got := unwrapShell(in); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

func FuzzStream(f *testing.F) {
	files, err := filepath.Glob("testdata/s*/*.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, text)
	}
	task := dataviz(f)
	f.Fuzz(func(t *testing.T, text, record []byte) {
		r, err := played(t, text)
		ses := new(session)
		if err := ses.read(bytes.NewReader(record), scrubber(agenttest.Key)); err != nil {
			t.Fatalf("read the record: %v", err)
		}
		if err != nil {
			var infra *eval.InfraError
			if !errors.As(err, &infra) || infra.Err.Error() == "" {
				t.Fatalf("err = %v, want an InfraError that says why", err)
			}
			return
		}
		steps := ses.merge(r.steps)
		if len(steps) < len(r.steps) {
			t.Fatalf("%d steps of the stream became %d", len(r.steps), len(steps))
		}
		a := (&Agent{now: clock}).attempt(task, r, ses, steps)
		if a.Failure == "" && strings.TrimSpace(a.Answer) == "" {
			t.Fatal("neither an answer nor a failure")
		}
		if u := a.Usage; u != nil && (u.Input < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || u.Output < 0 || u.Reasoning > u.Output) {
			t.Fatalf("usage = %+v", *u)
		}
		if a.Duration < 0 || a.InfraRetries < 0 {
			t.Fatalf("duration %v, retries %d", a.Duration, a.InfraRetries)
		}
		for _, c := range a.Trace {
			if len(c.Input) > replay.MaxInput+len("…") {
				t.Fatalf("an input of %d bytes", len(c.Input))
			}
		}
		for _, f := range filesOf(nil, steps, "/home/dev/project") {
			if strings.HasPrefix(f, "../") || filepath.IsAbs(f) {
				t.Fatalf("file %q is outside of the workspace", f)
			}
		}
	})
}
