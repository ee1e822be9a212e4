package pi

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
)

var update = flag.Bool("update", false, "write the golden files anew")

// told is the result of a recorded stream.
type told struct {
	Stream   string           `json:"stream"`
	Kind     eval.FailureKind `json:"kind,omitempty"`
	Error    string           `json:"error,omitempty"`
	Failure  string           `json:"failure,omitempty"`
	Answer   string           `json:"answer,omitempty"`
	Trace    []eval.ToolCall  `json:"trace,omitempty"`
	Skills   []string         `json:"skills,omitempty"`
	Invoked  bool             `json:"invoked,omitempty"`
	Usage    *eval.Usage      `json:"usage,omitempty"`
	MicroUSD int64            `json:"micro_usd,omitempty"`
	Duration string           `json:"duration"`
	Turns    int              `json:"turns,omitempty"`
	Retries  int              `json:"infra_retries,omitempty"`
}

// play feeds a recorded stream to a new reader. The clock is the stream's own.
func play(t *testing.T, text []byte, s *stream) (told, error) {
	t.Helper()
	var clock time.Time
	s.now = func() time.Time { return clock }
	var err error
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if ms := gjson.GetBytes(line, "message.timestamp").Int(); ms > 0 {
			clock = time.UnixMilli(max(ms, clock.UnixMilli()))
		} else if clock.IsZero() {
			clock, _ = time.Parse(time.RFC3339Nano, gjson.GetBytes(line, "timestamp").Str)
		}
		if err = s.line(line); err != nil {
			break
		}
		clock = clock.Add(time.Duration(gjson.GetBytes(line, "delayMs").Int()) * time.Millisecond)
	}
	a := (&Agent{}).attempt(s, eval.Variant{Name: "dataviz", Doc: new(skill.Document)})
	out := told{Answer: a.Answer, Trace: a.Trace, Skills: a.Skills, Invoked: *a.SkillInvoked, Usage: a.Usage,
		Duration: a.Duration.String(), Turns: a.Turns, Retries: a.InfraRetries}
	if a.CostUSD != nil {
		out.MicroUSD = int64(math.Round(*a.CostUSD * 1e6))
	}
	if err != nil {
		return out, err
	}
	if out.Failure, err = s.outcome(""); err != nil {
		var infra *eval.InfraError
		if !errors.As(err, &infra) {
			t.Fatalf("err = %v, want an InfraError", err)
		}
		out.Kind, out.Error = infra.Kind, infra.Err.Error()
	}
	return out, nil
}

func recorded() *stream {
	return &stream{dir: "/home/dev/project", offers: []offer{{"dataviz", "/home/dev/.pi/agent/skills/dataviz/SKILL.md"}}}
}

func TestRecordedStreams(t *testing.T) {
	files, err := filepath.Glob("testdata/streams/*.jsonl")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d streams, %v", len(files), err)
	}
	var all []told
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := play(t, text, recorded())
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		got.Stream = strings.TrimSuffix(filepath.Base(file), ".jsonl")
		all = append(all, got)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(all); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/streams.golden.json"
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("the streams tell other things than %s; got:\n%s", golden, b.Bytes())
	}
}
