package claude

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

var update = flag.Bool("update", false, "write the golden readings of the streams")

// now is when the recorded streams were made.
var now = time.Date(2026, 11, 21, 2, 49, 0, 0, time.UTC)

func read(data []byte) *stream {
	s := new(stream)
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		s.line(line)
	}
	return s
}

// A reading is what is made of a stream.
type reading struct {
	Answer  string           `json:"answer,omitempty"`
	Failure string           `json:"failure,omitempty"`
	Infra   eval.FailureKind `json:"infra,omitempty"`
	Error   string           `json:"error,omitempty"`
	After   string           `json:"retry_after,omitempty"`
	Resets  *time.Time       `json:"resets,omitempty"`
	Trace   []eval.ToolCall  `json:"trace,omitempty"`
	Usage   *eval.Usage      `json:"usage"`
	USD     *float64         `json:"usd"`
	Ran     string           `json:"ran"`
	Turns   int              `json:"turns"`
	Retries int              `json:"infra_retries,omitempty"`
	Skills  []string         `json:"skills,omitempty"`
	Offered []string         `json:"offered,omitempty"`
}

func readingOf(s *stream) reading {
	o := s.outcome(now)
	r := reading{Answer: s.answer(), Failure: o.failure, Trace: s.calls.Trace(replay.Secrets{}), Usage: s.usage(), USD: s.cost(nil),
		Ran: s.ran().String(), Turns: s.turns(), Retries: s.retries, Skills: s.skills("/home/dev/.claude/skills"), Offered: s.offered}
	if o.err != nil {
		r.Infra, r.Error = o.err.Kind, o.err.Err.Error()
		if o.err.RetryAfter > 0 {
			r.After = o.err.RetryAfter.String()
		}
		if !o.err.ResetAt.IsZero() {
			at := o.err.ResetAt.UTC()
			r.Resets = &at
		}
	}
	return r
}

// Every stream was printed by the real program; a person has checked the expected
// result beside it.
func TestStreams(t *testing.T) {
	files, err := filepath.Glob("testdata/streams/*.jsonl")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d streams, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.MarshalIndent(readingOf(read(data)), "", " ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			golden := strings.TrimSuffix(file, ".jsonl") + ".golden.json"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got %s\nwant %s", got, want)
			}
		})
	}
}

// A stream that was cut anywhere is never an answer.
func TestCutStreamIsNoAnswer(t *testing.T) {
	data, err := os.ReadFile("testdata/streams/skill.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(data)-1; n += 97 {
		s := read(data[:n])
		if o := s.outcome(now); o.err == nil || o.err.Kind != eval.ServerError {
			t.Fatalf("cut at %d: outcome = %+v, want an infrastructure failure", n, o)
		}
	}
}

// The model that answered is that of the main conversation's last reply: a subagent's
// may be another one, and texts of the program itself have none.
func TestModelThatAnswered(t *testing.T) {
	line := func(id, model, parent string) string {
		return fmt.Sprintf(`{"type":"assistant","parent_tool_use_id":%s,"message":{"id":%q,"model":%q,"content":[{"type":"text","text":"a"}]}}`, parent, id, model)
	}
	s := read([]byte(strings.Join([]string{line("m1", "sonnet-5", "null"), line("m2", "haiku-5", `"toolu_1"`), line("m3", "<synthetic>", "null")}, "\n")))
	if s.model != "sonnet-5" {
		t.Errorf("model %q, want sonnet-5", s.model)
	}
}

// What the program retried for ever before our wall clock ended it is no failure
// of the candidate; what it waited for an answer is.
func TestEndedByTheWallClock(t *testing.T) {
	retry := `{"type":"system","subtype":"api_retry","retry_delay_ms":1000,"error_status":%s,"error":"%s"}`
	line := func(status, word string) string {
		return strings.NewReplacer("%s,", status+",", `"%s"`, `"`+word+`"`).Replace(retry)
	}
	assistant := `{"type":"assistant","message":{"id":"m1","model":"x","content":[{"type":"text","text":"a"}]}}`
	for _, c := range []struct {
		name, lines string
		want        eval.FailureKind
	}{
		{"busy", line("429", "rate_limit"), eval.RateLimited},
		{"down", line("null", "unknown"), eval.Unreachable},
		{"broken", line("529", "server_error"), eval.ServerError},
		{"answering", line("529", "server_error") + "\n" + assistant, ""},
		{"silent", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := read([]byte(c.lines)).ended(deadline)
			infra, _ := err.(*eval.InfraError)
			if c.want == "" && err != deadline || c.want != "" && (infra == nil || infra.Kind != c.want) {
				t.Errorf("err = %v, want %q", err, c.want)
			}
		})
	}
}

// A reply that was continued is the whole of its parts; one that was asked for
// again is the last.
func TestContinuedReply(t *testing.T) {
	said := func(id, text string) string {
		return `{"type":"assistant","message":{"id":"` + id + `","model":"x","content":[{"type":"text","text":"` + text + `"}]}}`
	}
	told := func(text string) string {
		return `{"type":"user","isSynthetic":true,"message":{"content":[{"type":"text","text":"` + text + `"}]}}`
	}
	end := `{"type":"result","subtype":"success","terminal_reason":"completed","stop_reason":"end_turn","result":"two"}`
	for text, want := range map[string]string{
		"Output token limit hit. Resume directly — no apology.":                                   "one two",
		"Output token limit hit. Your caller does not receive an answer in pieces. Again, please": "two",
	} {
		s := read([]byte(strings.Join([]string{said("m1", "one "), told(text), said("m2", "two"), end}, "\n")))
		if o := s.outcome(now); o != (outcome{}) || s.answer() != want {
			t.Errorf("after %q: answer %q (%+v), want %q", text, s.answer(), o, want)
		}
	}
}

// Only a denial that the program's own safety checks made is the model's doing.
func TestDenial(t *testing.T) {
	const run = `{"type":"system","subtype":"init","permissionMode":"MODE"}
{"type":"assistant","message":{"id":"m1","model":"x","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}
{"type":"system","subtype":"permission_denied","tool_use_id":"t1","decision_reason_type":"REASON"}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true}]}}
{"type":"result","subtype":"success","terminal_reason":"completed","stop_reason":"end_turn","result":"stopped","permission_denials":[{"tool_use_id":"t1"}]}`
	for _, c := range []struct {
		mode, reason string
		want         bool
	}{
		{"default", "mode", true}, {"default", "safetyCheck", true}, {bypass, "rule", true}, {bypass, "", true},
		{bypass, "safetyCheck", false},
	} {
		s := read([]byte(strings.NewReplacer("MODE", c.mode, "REASON", c.reason).Replace(run)))
		if o := s.outcome(now); (o.err != nil) != c.want {
			t.Errorf("%s denied by %q: %+v, want an infrastructure failure: %v", c.mode, c.reason, o, c.want)
		}
		if tr := s.calls.Trace(replay.Secrets{}); len(tr) != 1 || !tr[0].Failed {
			t.Errorf("trace = %+v, want a failed call", tr)
		}
	}
}

func TestTraceIsCapped(t *testing.T) {
	input := `{"command":"` + strings.Repeat("ä", replay.MaxInput) + `"}`
	s := read([]byte(`{"type":"assistant","message":{"id":"m","model":"x","content":[{"type":"tool_use","id":"t","name":"Bash","input":` + input + `}]}}`))
	tr := s.calls.Trace(replay.Secrets{})
	if len(tr) != 1 || len(tr[0].Input) > replay.MaxInput+len("…") || !utf8.ValidString(tr[0].Input) {
		t.Errorf("trace = %+v", tr)
	}
}

func FuzzStream(f *testing.F) {
	files, _ := filepath.Glob("testdata/streams/*.jsonl")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := read(data)
		o := s.outcome(now)
		if o.err == nil && o.failure == "" && strings.TrimSpace(s.answer()) == "" {
			t.Error("nothing is an answer")
		}
		if o.err != nil && o.failure != "" {
			t.Errorf("both: %+v", o)
		}
		if o.err == nil && len(s.results) == 0 {
			t.Error("a stream without a result is an answer")
		}
		if u := s.usage(); u != nil && s.cost(nil) != nil && *s.cost(nil) < 0 {
			t.Error("a cost below nothing")
		}
		if s.ran() < 0 || s.turns() < 0 {
			t.Errorf("ran %v, turns %d", s.ran(), s.turns())
		}
		s.calls.Accesses()
		s.skills("/x")
	})
}

func BenchmarkStream(b *testing.B) {
	data, err := os.ReadFile("testdata/streams/skill.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		s := read(data)
		if s.outcome(now) != (outcome{}) {
			b.Fatal("no answer")
		}
	}
}
