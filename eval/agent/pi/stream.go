package pi

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// errTurns ends a child that has had all the turns it may have. The program
// itself knows no limit.
var errTurns = errors.New("all turns are used up")

// An offer is a skill as it was offered to the program.
type offer struct {
	name string
	file string // its SKILL.md, absolute
}

// A stream reads the program's events (its docs/json.md), one line at a time. Failures
// of a run appear only there: the exit code is 0 even with a wrong key.
type stream struct {
	offers   []offer
	dir      string // the child's working folder: paths in tool calls are relative to it
	maxTurns int    // 0: no limit
	now      func() time.Time

	last    message // the assistant's last whole message
	answers int     // whole messages of the assistant that are no error
	calls   replay.Calls
	skills  []string
	usage   eval.Usage
	told    bool // usage was reported
	usd     float64
	retries int
	settled bool
	broken  error // the first event that could not be read

	begun, ended time.Time     // of the model's work, by the clock
	turn         time.Time     // start of the current turn
	lost         time.Duration // in turns that were retried, and the waits before them
	retrying     bool
	failing      string // the failure that is being retried
}

// An event has the fields of all kinds of events that are read.
type event struct {
	Type         string          `json:"type"`
	Message      *message        `json:"message"`
	ToolCallID   string          `json:"toolCallId"`
	ToolName     string          `json:"toolName"`
	Args         json.RawMessage `json:"args"`
	IsError      bool            `json:"isError"`
	ErrorMessage string          `json:"errorMessage"`
}

// A message is one of the model's, the user's or a tool's.
type message struct {
	Role         string          `json:"role"`
	Model        string          `json:"model"`   // of an assistant's
	Content      json.RawMessage `json:"content"` // a text, or blocks
	Usage        *usage          `json:"usage"`
	StopReason   string          `json:"stopReason"`
	RawStop      string          `json:"rawStopReason"` // the server's own word
	ErrorMessage string          `json:"errorMessage"`
}

// A usage counts tokens; Input is without the cached ones, Reasoning is part of
// Output.
type usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
	Reasoning  int64 `json:"reasoning"`
	Cost       struct {
		Total float64 `json:"total"` // USD; 0 for models whose price the program does not know
	} `json:"cost"`
}

// line reads one line of stdout. Lines that are no events are skipped: the program
// itself prints only events, but the tools that it runs may print more.
func (s *stream) line(b []byte) error {
	b = bytes.TrimSuffix(b, []byte("\r"))
	if len(b) == 0 || b[0] != '{' {
		return nil
	}
	// Most lines are deltas. Only those that are needed are decoded.
	switch kind := gjson.GetBytes(b, "type").Str; kind {
	case "agent_start":
		s.start()
	case "turn_start":
		s.turn = s.now()
	case "agent_settled":
		s.settled = true
	case "message_end", "tool_execution_start", "tool_execution_end", "auto_retry_start":
		var e event
		if err := json.Unmarshal(b, &e); err != nil {
			if s.broken == nil {
				s.broken = err
			}
			return nil
		}
		return s.event(&e)
	case "":
		if s.broken == nil && !json.Valid(b) {
			s.broken = errors.New("a line of the event stream is no whole event")
		}
	}
	return nil
}

// start handles the beginning of the work, and of every retry.
func (s *stream) start() {
	now := s.now()
	if s.begun.IsZero() {
		s.begun, s.ended, s.turn = now, now, now
	}
	if s.retrying {
		s.retrying = false
		s.lost += now.Sub(s.turn)
	}
}

func (s *stream) event(e *event) error {
	switch e.Type {
	case "message_end":
		return s.message(e.Message)
	case "tool_execution_start":
		s.calls.Begin(e.ToolCallID, e.ToolName, e.Args)
		s.calls.End(e.ToolCallID, false) // one that the run ends in has not failed
	case "tool_execution_end":
		if c := s.calls.End(e.ToolCallID, e.IsError); c != nil && !c.Failed {
			s.loaded(s.loads(c.Name, c.Input))
		}
	case "auto_retry_start":
		s.retries++
		s.retrying, s.failing = true, e.ErrorMessage
	}
	return nil
}

func (s *stream) message(m *message) error {
	switch {
	case m == nil:
	case m.Role == "user" && s.answers == 0:
		s.loaded(s.expanded(m.text()))
	case m.Role == "assistant":
		s.last, s.ended, s.failing = *m, s.now(), ""
		s.spend(m.Usage)
		if m.StopReason == "error" {
			return nil
		}
		s.answers++
		if s.maxTurns > 0 && s.answers >= s.maxTurns && m.StopReason == "toolUse" {
			return errTurns
		}
	}
	return nil
}

func (s *stream) spend(u *usage) {
	if u == nil || u.Input+u.Output+u.CacheRead+u.CacheWrite == 0 {
		return // a failed call reports zeros
	}
	s.told = true
	s.usage = s.usage.Add(eval.Usage{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
		Output: u.Output, Reasoning: u.Reasoning})
	s.usd += u.Cost.Total
}

// took is the usage and cost of the run; nil is unknown. The program's own price is
// used if it has one, else that of prices.
func (s *stream) took(prices *eval.Price) (*eval.Usage, *float64) {
	if !s.told {
		return nil, nil
	}
	u := s.usage
	if s.usd > 0 {
		usd := s.usd
		return &u, &usd
	}
	return &u, prices.USD(&u)
}

// duration is the time from the start to the model's last text, without tries that
// failed in the infrastructure and the waits after them.
func (s *stream) duration() time.Duration { return max(0, s.ended.Sub(s.begun)-s.lost) }

func (s *stream) loaded(skill string) {
	if skill != "" && !slices.Contains(s.skills, skill) {
		s.skills = append(s.skills, skill)
	}
}

// expanded is the name of the skill at the beginning of a request: the program replaces
// "/skill:name" by the skill's text.
func (s *stream) expanded(text string) string {
	head, _, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(head, `<skill name="`) {
		return ""
	}
	for _, o := range s.offers {
		if strings.HasSuffix(head, ` location="`+o.file+`">`) {
			return o.name
		}
	}
	return ""
}

// loads names the skill that a tool call reads.
func (s *stream) loads(tool string, args json.RawMessage) string {
	var in struct{ Path, Command string }
	if json.Unmarshal(args, &in) != nil {
		return ""
	}
	for _, o := range s.offers {
		switch tool {
		case "read":
			path := in.Path
			if !filepath.IsAbs(path) {
				path = filepath.Join(s.dir, path)
			}
			if filepath.Clean(path) == o.file {
				return o.name
			}
		case "bash":
			dir, base := filepath.Split(o.file)
			if strings.Contains(in.Command, strings.TrimSuffix(dir, "/")) && strings.Contains(in.Command, base) {
				return o.name
			}
		}
	}
	return ""
}

// text joins a message's text blocks; thinking and tool calls are left out.
func (m *message) text() string {
	var plain string
	if json.Unmarshal(m.Content, &plain) == nil {
		return plain
	}
	var blocks []struct{ Type, Text string }
	if json.Unmarshal(m.Content, &blocks) != nil {
		return ""
	}
	var texts []string
	for _, b := range blocks {
		if b.Type == "text" && b.Text != "" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}
