package agenttest

import (
	"maps"
	"slices"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// A Scenario is one thing that can happen to an agent.
type Scenario string

// The scenarios. All but the first group need an agent that speaks to Server.
const (
	Success      Scenario = "success"       // an answer, a nil error, a stable identity
	Concurrent   Scenario = "concurrent"    // 200 rollouts, 16 at once; no goroutine is left over
	Cancelled    Scenario = "cancelled"     // before the call: ctx's error
	Answer       Scenario = "answer"        // the model's text and usage arrive, cached tokens apart
	SkillText    Scenario = "skill-text"    // the skill reaches the model; without a skill nothing does
	Conversation Scenario = "conversation"  // context, files and the failed attempt reach the model
	EmptyAnswer  Scenario = "empty-answer"  // the agent failed: data
	CutOff       Scenario = "cut-off"       // the same
	WrongKey     Scenario = "wrong-key"     // stops the run at once; the key is in no error
	BadRequest   Scenario = "bad-request"   // stops the run at once
	UsageLimit   Scenario = "usage-limit"   // stops the run at once
	RateLimited  Scenario = "rate-limited"  // waited for, and no fault of the candidate
	AlwaysBusy   Scenario = "always-busy"   // missing in the end, never 0
	ServerError  Scenario = "server-error"  // the same
	Dropped      Scenario = "dropped"       // the same
	Malformed    Scenario = "malformed"     // the same
	Unreachable  Scenario = "unreachable"   // the same: no server at all
	NeverAnswers Scenario = "never-answers" // the wall clock: quality 0, not missing
	Interrupted  Scenario = "interrupted"   // while the model answers: ctx's error, nothing is recorded
)

var scenarios = map[Scenario]func(*testing.T, Harness){
	Success: success, Concurrent: concurrent, Cancelled: cancelled,
	Answer: answer, SkillText: skillText, Conversation: conversation, EmptyAnswer: emptyAnswer, CutOff: cutOff,
	WrongKey: wrongKey, BadRequest: badRequest, UsageLimit: usageLimit, RateLimited: rateLimited,
	AlwaysBusy: alwaysBusy, ServerError: serverError, Dropped: dropped, Malformed: malformed,
	Unreachable: unreachable, NeverAnswers: neverAnswers, Interrupted: interrupted,
}

// A Harness is a backend as the suite uses it.
type Harness struct {
	// New returns an agent that calls the model at s.URL with the key and, if it can,
	// through s.Client. An agent without a server ignores all three. It must not retry
	// by itself, or have that turned off.
	New func(t *testing.T, s *Server, key string) eval.Agent
	// Protocol is the agent's API; nil is ChatCompletions.
	Protocol Protocol
	// Case is a case that the agent can answer; nil is a plain question.
	Case *eval.Case
	// Unsupported names the scenarios that make no sense for the backend, with the
	// reason for each.
	Unsupported map[Scenario]string
}

// WithoutServer declares all scenarios unsupported that need a model behind a
// server, for one reason.
func WithoutServer(reason string) map[Scenario]string {
	out := make(map[Scenario]string)
	for s := range scenarios {
		if s != Success && s != Concurrent && s != Cancelled {
			out[s] = reason
		}
	}
	return out
}

// Run runs every scenario as a subtest; an unsupported one is skipped with its
// reason.
func Run(t *testing.T, h Harness) {
	t.Helper()
	if h.Protocol == nil {
		h.Protocol = ChatCompletions{}
	}
	for s, reason := range h.Unsupported {
		if scenarios[s] == nil {
			t.Errorf("unknown scenario %q is declared unsupported", s)
		}
		if reason == "" {
			t.Errorf("scenario %q is declared unsupported without a reason", s)
		}
	}
	for _, s := range slices.Sorted(maps.Keys(scenarios)) {
		t.Run(string(s), func(t *testing.T) {
			if reason, no := h.Unsupported[s]; no {
				t.Skip(reason)
			}
			scenarios[s](t, h)
		})
	}
}

// sentinel occurs in the skill and nowhere else.
const sentinel = "Sentinel: begin every answer with the word zirconium."

func variant(t *testing.T) eval.Variant {
	t.Helper()
	doc, err := skill.Parse([]byte("---\nname: stones\ndescription: Names stones.\n---\n# Stones\n\n"+sentinel+"\n"),
		skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return eval.Variant{Name: "stones", Doc: doc}
}

func (h Harness) kase() *eval.Case {
	if h.Case != nil {
		return h.Case
	}
	return &eval.Case{ID: "stone-1", Skill: "stones", Prompt: "Which stone is the hardest?",
		Checks: []eval.Check{{Type: eval.Contains, Value: "zirconium"}}}
}

func (h Harness) start(t *testing.T, script ...Reply) (*Server, eval.Agent) {
	t.Helper()
	s := NewServer(t, h.Protocol, script...)
	return s, h.New(t, s, Key)
}

// good is an ordinary answer.
var good = Reply{Text: "zirconium: the diamond", Input: 120, Cached: 100, Output: 7}
