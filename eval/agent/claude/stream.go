package claude

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// An event is one line of `--output-format stream-json`: the fields that are
// read here, of all types together. Versions 2.1.197 to 2.1.329 write them so.
type event struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Parent  string `json:"parent_tool_use_id"` // of a subagent's messages

	// system/init
	Skills         []string `json:"skills"`
	PermissionMode string   `json:"permissionMode"`

	// system/api_retry
	RetryDelayMS float64         `json:"retry_delay_ms"`
	ErrorStatus  int             `json:"error_status"`
	Error        json.RawMessage `json:"error"` // here and in assistant: a word

	// system/permission_denied
	ToolUseID  string `json:"tool_use_id"`
	ReasonType string `json:"decision_reason_type"`

	// rate_limit_event
	RateLimit *rateLimit `json:"rate_limit_info"`

	// assistant, user
	Message   json.RawMessage `json:"message"`
	Synthetic bool            `json:"isSynthetic"`
	IsAPIErr  bool            `json:"is_api_error_message"`
	ErrParams *struct {
		RateLimit *rateLimit `json:"rate_limit_info"`
	} `json:"api_error_params"`
}

// A rateLimit is what the program knows of a subscription's limits.
type rateLimit struct {
	Status          string `json:"status"` // allowed, allowed_warning, rejected
	ResetsAt        int64  `json:"resetsAt"`
	OverageResetsAt int64  `json:"overageResetsAt"`
	// Utilization is the used share of the window. The program (2.1.329) tells it with a
	// warning alone, and not while the server allows requests without one.
	Utilization float64 `json:"utilization"`
}

// A result is the event that ends a turn. Its exit code, its subtype and its
// is_error disagree on what went wrong; see outcome.go.
type result struct {
	Subtype        string               `json:"subtype"`
	IsError        bool                 `json:"is_error"`
	Terminal       string               `json:"terminal_reason"`
	APIErrorStatus int                  `json:"api_error_status"`
	APIErrorType   string               `json:"api_error_type"` // the server's word
	APIError       string               `json:"api_error"`      // the program's word
	StopReason     string               `json:"stop_reason"`
	Result         string               `json:"result"`
	Errors         []string             `json:"errors"`
	NumTurns       int                  `json:"num_turns"`
	DurationMS     float64              `json:"duration_ms"`
	CostUSD        *float64             `json:"total_cost_usd"`
	Usage          tokens               `json:"usage"`
	Models         map[string]modelUsed `json:"modelUsage"`
	Denials        []struct {
		ToolUseID string `json:"tool_use_id"`
	} `json:"permission_denials"`
}

// tokens are those of the main conversation alone.
type tokens struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
}

// A modelUsed is what one model took, subagents and side requests included.
type modelUsed struct {
	Input      int64   `json:"inputTokens"`
	Output     int64   `json:"outputTokens"`
	CacheRead  int64   `json:"cacheReadInputTokens"`
	CacheWrite int64   `json:"cacheCreationInputTokens"`
	Thinking   int64   `json:"thinkingTokens"`
	CostUSD    float64 `json:"costUSD"`
	// CostBasis is "list", "managed" or "unknown": the program prices a model
	// that it does not know like one that it does. "" before 2.1.3.
	CostBasis string `json:"costBasis"`
}

type message struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Content json.RawMessage `json:"content"` // text, or blocks
}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
}

// A stream is what the events so far tell. The zero value has read nothing.
type stream struct {
	init       bool
	offered    []string // skills that a slash command may name
	mode       string   // of permissions
	calls      replay.Calls
	replies    map[string]bool
	model      string            // of the last reply that no subagent gave
	denied     map[string]string // tool_use id → why
	results    []result
	reply      strings.Builder // the model's text since the last tool call or other turn
	resumed    bool            // reply was cut off at the limit of tokens, and continued
	retries    int
	waited     time.Duration // between retries
	firstPause time.Duration // before the first retry
	retrying   bool          // nothing came since the last retry
	last       event         // the last retry
	apiError   string        // the program's word in the last synthetic reply
	limit      *rateLimit    // that refused a request
	warned     *rateLimit    // that is nearly reached
}

// resumes are what the program says to a model whose reply was cut off, so that
// it continues it. Its other wordings ask for the whole reply again.
var resumes = []string{"Output token limit hit. Resume directly", "Your response was cut off because it exceeded the output token limit. Continue"}

// line reads one line. What is no event is passed over: only a result decides.
func (s *stream) line(b []byte) {
	var e event
	if len(b) == 0 || b[0] != '{' || json.Unmarshal(b, &e) != nil {
		return
	}
	switch e.Type {
	case "system":
		s.system(&e)
	case "rate_limit_event":
		if e.RateLimit != nil && e.RateLimit.Status == "rejected" {
			s.limit = e.RateLimit
		} else if e.RateLimit != nil && e.RateLimit.Status == "allowed_warning" {
			s.warned = e.RateLimit
		}
	case "assistant":
		s.assistant(&e)
	case "user":
		s.user(&e)
	case "result":
		var r result
		if json.Unmarshal(b, &r) == nil {
			s.results = append(s.results, r)
		}
	}
}

func (s *stream) system(e *event) {
	switch e.Subtype {
	case "init":
		s.init, s.offered, s.mode = true, e.Skills, e.PermissionMode
	case "api_retry":
		if s.retries++; s.retries == 1 {
			s.firstPause = replay.Span(e.RetryDelayMS, time.Millisecond)
		}
		s.waited += replay.Span(e.RetryDelayMS, time.Millisecond)
		s.retrying, s.last = true, *e
	case "permission_denied":
		if s.denied == nil {
			s.denied = make(map[string]string)
		}
		s.denied[e.ToolUseID] = e.ReasonType
	}
}

func (s *stream) assistant(e *event) {
	var m message
	if json.Unmarshal(e.Message, &m) != nil {
		return
	}
	if e.IsAPIErr {
		s.apiError = word(e.Error)
		if e.ErrParams != nil && e.ErrParams.RateLimit != nil {
			s.limit = e.ErrParams.RateLimit
		}
		return
	}
	if m.Model == "<synthetic>" {
		return
	}
	s.retrying = false
	if s.replies == nil {
		s.replies = make(map[string]bool)
	}
	s.replies[m.ID] = true
	if e.Parent == "" && m.Model != "" {
		s.model = m.Model
	}
	for _, b := range blocks(m.Content) {
		switch {
		case b.Type == "text" && e.Parent == "":
			s.reply.WriteString(b.Text)
		case b.Type == "tool_use":
			if e.Parent == "" {
				s.reply.Reset()
				s.resumed = false
			}
			s.calls.Begin(b.ID, b.Name, b.Input)
		}
	}
}

func (s *stream) user(e *event) {
	var m message
	if json.Unmarshal(e.Message, &m) != nil {
		return
	}
	for _, b := range blocks(m.Content) {
		switch b.Type {
		case "tool_result":
			s.calls.End(b.ToolUseID, b.IsError)
		case "text":
			if e.Parent != "" {
				break
			}
			if e.Synthetic && (strings.HasPrefix(b.Text, resumes[0]) || strings.HasPrefix(b.Text, resumes[1])) {
				s.resumed = true
				break
			}
			s.reply.Reset()
			s.resumed = false
		}
	}
}

// answer is the model's last words: the result's, or if the program let it
// continue a reply that was cut off, all parts of it. The result of a run that
// failed is the program's own text, and no answer.
func (s *stream) answer() string {
	if len(s.results) == 0 {
		return ""
	}
	if r := &s.results[len(s.results)-1]; r.IsError && r.APIError != "max_output_tokens" {
		return ""
	}
	if s.resumed {
		return s.reply.String()
	}
	for i := len(s.results) - 1; i >= 0; i-- {
		if r := &s.results[i]; !r.IsError && strings.TrimSpace(r.Result) != "" {
			return r.Result
		}
	}
	return ""
}

// ran is the agent's own time, without waits between retries; the time of the
// requests that failed is not told.
func (s *stream) ran() time.Duration {
	var d time.Duration
	for i := range s.results {
		d += replay.Span(s.results[i].DurationMS, time.Millisecond)
	}
	return max(0, d-s.waited)
}

// turns counts the model's replies. num_turns counts other things too.
func (s *stream) turns() int {
	if len(s.replies) > 0 {
		return len(s.replies)
	}
	if n := len(s.results); n > 0 {
		return s.results[n-1].NumTurns // replies without content are not printed
	}
	return 0
}

// usage sums all models. Results count from the start of the process, so the
// last one tells all. nil if none did.
func (s *stream) usage() *eval.Usage {
	if len(s.results) == 0 {
		return nil
	}
	var u eval.Usage
	for _, m := range s.results[len(s.results)-1].Models {
		u = u.Add(eval.Usage{Input: m.Input, CacheRead: m.CacheRead, CacheWrite: m.CacheWrite,
			Output: m.Output, Reasoning: min(m.Thinking, m.Output)})
	}
	if u == (eval.Usage{}) {
		for i := range s.results {
			t := s.results[i].Usage
			u = u.Add(eval.Usage{Input: t.Input, CacheRead: t.CacheRead, CacheWrite: t.CacheWrite, Output: t.Output})
		}
	}
	if u == (eval.Usage{}) {
		return nil
	}
	return &u
}

// cost is what the program says, if it knows the price of every model that
// it used; else what p says, else nil.
func (s *stream) cost(p *eval.Price) *float64 {
	if len(s.results) > 0 {
		r := &s.results[len(s.results)-1]
		known := len(r.Models) > 0 && r.CostUSD != nil && *r.CostUSD > 0
		for name, m := range r.Models {
			switch m.CostBasis {
			case "list", "managed":
			case "":
				known = known && strings.HasPrefix(name, "claude-")
			default:
				known = false
			}
		}
		if known {
			usd := *r.CostUSD
			return &usd
		}
	}
	return p.USD(s.usage())
}

func blocks(content json.RawMessage) []block {
	var bs []block
	if json.Unmarshal(content, &bs) == nil {
		return bs
	}
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	return nil
}

// word is a JSON string, or "".
func word(raw json.RawMessage) string {
	var w string
	_ = json.Unmarshal(raw, &w) // other versions may put an object here
	return w
}
