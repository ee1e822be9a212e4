// Package harvest turns the sessions that people had with their coding agents
// into skill invocations, feedback and eval cases. Readers of one agent's files
// each live in a package below.
package harvest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest/jsonl"
	"github.com/skill-evolve/evolve/harvest/work"
)

// A Session is one conversation with an agent, with what evolve keeps of it: human turns,
// final answers, tool names and their outcome, usage, and as much of the agent's work as its
// owner chose. Tool results and thinking are never kept. All text is redacted.
type Session struct {
	ID       string    `json:"id"`
	Agent    string    `json:"agent"` // "claude-code", "codex", "pi", "copilot-cli"
	Path     string    `json:"path"`
	CWD      string    `json:"cwd,omitempty"`
	Folders  []string  `json:"folders,omitempty"` // all that it, or a subagent of it, worked in, CWD among them: see WorkedIn
	Branch   string    `json:"branch,omitempty"`
	Commit   string    `json:"commit,omitempty"`
	Model    string    `json:"model,omitempty"`
	Vendor   string    `json:"vendor,omitempty"`   // that answered, or UnknownVendor; "" if the transcript names none
	Headless bool      `json:"headless,omitempty"` // driven by a program, not a person
	Author   string    `json:"author,omitempty"`   // AuthorOf who recorded it, "" if the source does not tell: then it is the person's own
	Subagent string    `json:"subagent,omitempty"` // agent id if this is a subagent's transcript
	Started  time.Time `json:"started,omitzero"`
	Ended    time.Time `json:"ended,omitzero"`

	Turns       []Turn       `json:"turns"`
	Invocations []Invocation `json:"invocations,omitempty"`
	Problems    []Problem    `json:"problems,omitempty"`
	Redactions  int          `json:"redactions,omitempty"`
}

// AuthorOf is a short hash of a person's address, as git.Address writes it: it tells people
// apart and does not name them.
func AuthorOf(address string) string {
	if address == "" {
		return ""
	}
	return fmt.Sprintf("%.4x", sha256.Sum256([]byte(address)))
}

// MaxFolders is how many working folders of a session are kept.
const MaxFolders = 1000

// In notes folders that the session worked in. One of more than MaxFolders is kept as
// "", which is no folder that anybody can have allowed.
func (s *Session) In(folders ...string) {
	for _, folder := range folders {
		if len(s.Folders) >= MaxFolders {
			folder = ""
		} else if folder == "" {
			continue
		}
		if !slices.Contains(s.Folders, folder) {
			s.Folders = append(s.Folders, folder)
		}
	}
}

// WorkedIn are the folders that the session is known to have worked in. Of sessions that
// were stored before Folders was kept, that is the first one.
func (s *Session) WorkedIn() []string {
	if len(s.Folders) == 0 && s.CWD != "" {
		return []string{s.CWD}
	}
	return s.Folders
}

// UnknownVendor is the Vendor of a session that a server answered of which the transcript
// does not say whose it is, or that several vendors answered.
const UnknownVendor = "unknown"

// vendors are who gets text by these providers, as agents name them. Of any other one,
// the host is not in a transcript.
var vendors = map[string]string{"anthropic": "anthropic", "openai": "openai", "openai-codex": "openai", "github-copilot": "github",
	"google": "google", "openrouter": "openrouter"}

// Answered notes that a provider answered in the session, "" if the transcript does not
// name it.
func (s *Session) Answered(provider string) {
	vendor := cmp.Or(vendors[provider], UnknownVendor)
	if s.Vendor != "" && s.Vendor != vendor {
		vendor = UnknownVendor
	}
	s.Vendor = vendor
}

// A Turn is one human message and everything up to the next.
type Turn struct {
	ID          string      `json:"id,omitempty"` // the agent's own id (Claude: promptId)
	Time        time.Time   `json:"time,omitzero"`
	Prompt      string      `json:"prompt"`           // as typed; a typed command as "/name args"
	Answer      string      `json:"answer,omitempty"` // the last assistant text of the turn
	Tools       []Tool      `json:"tools,omitempty"`
	Usage       *eval.Usage `json:"usage,omitempty"`
	DurationMS  *int64      `json:"duration_ms,omitempty"`
	Interrupted bool        `json:"interrupted,omitempty"` // the user stopped it
	APIErrors   int         `json:"api_errors,omitempty"`
	Committed   string      `json:"committed,omitempty"` // SHA of the user's commit of this turn's work
	Work        []work.Act  `json:"-"`                   // what the agent did, in order; stored apart
	Reading     *Reading    `json:"reading,omitempty"`   // nil: it was not read
}

// A Reading is what the user's next messages say of a turn's work.
type Reading struct {
	Label Label `json:"label"` // Corrected, Accepted, Rejected, Repeated or Unknown
	// Words are the user's own that decide, as typed in turn Reply; "" only if Label is
	// Unknown.
	Words string `json:"words,omitempty"`
	Reply int    `json:"reply,omitempty"` // index of a later turn
	// Concerns is whose text could have prevented a correction: "skill:NAME" of a skill in
	// play, "standing" for the standing instructions; "" for neither.
	Concerns string `json:"concerns,omitempty"`
	Rule     string `json:"rule,omitempty"` // the general one that prevents it; "" for none
	// Replayable is whether a checkout of the repository suffices to make the request
	// again: "yes", "no" or "unclear".
	Replayable string `json:"replayable,omitempty"`
	By         string `json:"by"` // who read it: "model"; or "memory": the agent wrote Rule into its memory
}

// Spend adds the usage of one request of the turn.
func (t *Turn) Spend(u eval.Usage) {
	if t.Usage == nil {
		t.Usage = new(eval.Usage)
	}
	*t.Usage = t.Usage.Add(u)
}

// A Tool is one tool call: its name and how it ended, never its result.
type Tool struct {
	Name   string `json:"name"`
	Failed bool   `json:"failed,omitempty"`
}

// Signal is how an invocation was recognised (skill events version 1).
type Signal string

const (
	SkillToolUse       Signal = "skill_tool_use"
	PromptSlashCommand Signal = "prompt_slash_command"
	InputSlashCommand  Signal = "input_slash_command"
	DollarMention      Signal = "dollar_mention"
	SkillFileRead      Signal = "skill_file_read"
)

// An Invocation is one use of a skill.
type Invocation struct {
	ID        string    `json:"id"`
	Skill     string    `json:"skill"`
	Turn      int       `json:"turn"` // index into Session.Turns
	Signal    Signal    `json:"signal"`
	Explicit  bool      `json:"explicit"` // false: inferred
	ToolUseID string    `json:"tool_use_id,omitempty"`
	Tool      string    `json:"tool,omitempty"`     // the agent's tool that loads skills; "" stands for "Skill"
	EntryID   string    `json:"entry_id,omitempty"` // the agent's id of that line
	Line      int       `json:"line"`               // 0-based line of the transcript
	Time      time.Time `json:"time,omitzero"`
	Dir       string    `json:"dir,omitempty"`       // the skill's folder; tells apart skills of one name
	BodyHash  string    `json:"body_hash,omitempty"` // SHA-256 of the skill text that was in force
	TextHash  string    `json:"text_hash,omitempty"` // SHA-256 of the whole SKILL.md that was loaded, if a hook recorded it
	Failed    bool      `json:"failed,omitempty"`    // the agent refused it (unknown skill)
	Parent    string    `json:"parent,omitempty"`    // the skill that was in force and called this one
	Command   string    `json:"command,omitempty"`   // what the user typed, if it is not the skill's name
	Feedback  Feedback  `json:"feedback"`
}

// Planned reports whether the agent only mentioned the skill: none of its text was
// loaded. That is an event, but no use that counts.
func (v Invocation) Planned() bool { return v.Signal == DollarMention && !v.Explicit }

// Used reports whether v is a use that counts: the skill was in force.
func (v Invocation) Used() bool { return !v.Failed && !v.Planned() }

// Uses counts the uses of skills in s.
func (s *Session) Uses() (n int) {
	for _, v := range s.Invocations {
		if v.Used() {
			n++
		}
	}
	return n
}

// Label is the outcome of a use, judged by what the user wrote and did next.
type Label string

const (
	Unknown   Label = "unknown"
	Accepted  Label = "accepted"
	Corrected Label = "corrected"
	Rejected  Label = "rejected" // interrupted or thrown away
	Repeated  Label = "repeated"
	// Abandoned: the use failed or gave no answer, and the user left the subject or the
	// session. Its confidence is low: people leave for lunch too.
	Abandoned Label = "abandoned"
)

// Feedback is a label with its evidence. A tool error is never feedback.
type Feedback struct {
	Label      Label   `json:"label"`
	Confidence float64 `json:"confidence"` // [0,1]
	// Evidence is the user's own words or, in square brackets, an action without words:
	// an interruption, a commit, the end of the session.
	Evidence string `json:"evidence,omitempty"`
	Turn     int    `json:"turn,omitempty"` // index of the turn with the evidence
	// By is the reader of the words, if that was not the lexicon: "model".
	By string `json:"by,omitempty"`
	// Unread: the user wrote something after the use, and no model has read it.
	Unread bool `json:"unread,omitempty"`
}

// A Problem is a part of a file that could not be read, and why. It never ends the
// harvest.
type Problem = jsonl.Problem

// A Source reads the sessions of one agent. They come redacted and assessed.
type Source interface {
	Name() string
	// Sessions calls yield for every session that is newer than the cursor holds, in
	// path order. A file that cannot be read is a Problem, not an error; the error is
	// yield's own, or ctx's.
	Sessions(ctx context.Context, c Cursor, yield func(*Session) error) ([]Problem, error)
}

// A Cursor records what was read of each file, so that a harvest without news costs one
// stat per file.
type Cursor interface {
	Seen(path string, size int64, modified time.Time) bool
	Mark(path string, size int64, modified time.Time)
}
