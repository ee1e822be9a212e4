package demodatatest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/skill-evolve/evolve/eval/agent/simulated"
)

// A record is one line of a transcript, with the fields that matter in the
// order in which Claude Code 2.1 writes them.
type record struct {
	Parent      *string        `json:"parentUuid"`
	Sidechain   bool           `json:"isSidechain"`
	PromptID    string         `json:"promptId,omitempty"`
	Type        string         `json:"type"`
	Subtype     string         `json:"subtype,omitempty"`
	DurationMS  int64          `json:"durationMs,omitempty"`
	Message     *message       `json:"message,omitempty"`
	Meta        bool           `json:"isMeta,omitempty"`
	UUID        string         `json:"uuid"`
	Time        string         `json:"timestamp"`
	Source      string         `json:"promptSource,omitempty"`
	ToolResult  map[string]any `json:"toolUseResult,omitempty"`
	SourceTool  string         `json:"sourceToolUseID,omitempty"`
	Attribution string         `json:"attributionSkill,omitempty"`
	Entry       string         `json:"entrypoint"`
	CWD         string         `json:"cwd"`
	Session     string         `json:"sessionId"`
	Version     string         `json:"version"`
	Branch      string         `json:"gitBranch"`
}

type message struct {
	ID      string `json:"id,omitempty"`
	Role    string `json:"role"`
	Model   string `json:"model,omitempty"`
	Content any    `json:"content"` // a string, or content blocks
	Stop    string `json:"stop_reason,omitempty"`
	Usage   *usage `json:"usage,omitempty"`
}

type usage struct {
	Input  int `json:"input_tokens"`
	Write  int `json:"cache_creation_input_tokens"`
	Read   int `json:"cache_read_input_tokens"`
	Output int `json:"output_tokens"`
}

type content struct {
	Type      string `json:"type"`
	Text      string `json:"text,omitempty"`
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Input     any    `json:"input,omitempty"`
	ToolUseID string `json:"tool_use_id,omitempty"`
	Content   string `json:"content,omitempty"`
}

// A transcript is one session while it is being written.
type transcript struct {
	*plan
	session  string
	now      time.Time
	parent   *string
	promptID string
	turnAt   time.Time // when the current turn began
	last     string    // the last prompt
	skill    string    // in force
	out      bytes.Buffer
}

// newTranscript begins the n-th session: a few hours after the one before.
func newTranscript(p *plan, n int) *transcript {
	start := time.Date(2026, 9, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(n)*17*time.Hour + time.Duration(p.IntN(7200))*time.Second)
	t := &transcript{plan: p, now: start}
	t.session = t.uuid()
	return t
}

func (t *transcript) uuid() string {
	a, b := t.Uint64(), t.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff, 0x8000|b>>48&0x3fff, b&0xffffffffffff)
}

func (t *transcript) write(r record) {
	t.now = t.now.Add(time.Duration(300+t.IntN(1500)) * time.Millisecond)
	r.Parent, r.UUID, r.Time = t.parent, t.uuid(), t.now.Format("2006-01-02T15:04:05.000Z")
	r.Entry, r.CWD, r.Session, r.Version, r.Branch = "cli", "/home/you/project", t.session, "2.1.329", "main"
	t.parent = &r.UUID
	t.line(r)
}

func (t *transcript) line(v any) {
	e := json.NewEncoder(&t.out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
}

// say adds a message that the user typed.
func (t *transcript) say(text string) {
	t.now = t.now.Add(time.Duration(20+t.IntN(240)) * time.Second)
	t.promptID, t.turnAt, t.last = t.uuid(), t.now, text
	t.write(record{Type: "user", PromptID: t.promptID, Source: "typed", Message: &message{Role: "user", Content: text}})
}

// assistant is one message of the model.
func (t *transcript) assistant(stop string, blocks ...content) {
	t.write(record{Type: "assistant", Attribution: t.skill,
		Message: &message{ID: fmt.Sprintf("msg_%016x", t.Uint64()), Role: "assistant", Model: "claude-opus-5-5",
			Content: blocks, Stop: stop, Usage: &usage{40 + t.IntN(60), 300 + t.IntN(400), 18000 + t.IntN(4000), 40 + t.IntN(120)}}})
}

// tool is a tool call and its result; it returns the call's id.
func (t *transcript) tool(name string, input any, result string, structured map[string]any) string {
	id := fmt.Sprintf("toolu_%016x", t.Uint64())
	t.assistant("tool_use", content{Type: "tool_use", ID: id, Name: name, Input: input})
	t.write(record{Type: "user", PromptID: t.promptID, ToolResult: structured, Message: &message{Role: "user",
		Content: []content{{Type: "tool_result", ToolUseID: id, Content: result}}}})
	return id
}

// answer ends a turn: a command if there is one, then the answer.
func (t *transcript) answer(text, command string) {
	if command != "" {
		t.tool("Bash", map[string]string{"command": command}, "done", nil)
	}
	t.assistant("end_turn", content{Type: "text", Text: text})
	t.write(record{Type: "system", Subtype: "turn_duration", DurationMS: t.now.Sub(t.turnAt).Milliseconds()})
}

var dataFile = regexp.MustCompile(`data/[a-z]+-\d+`)

// use is a whole use of the skill: request, skill, answer and what the user
// made of it.
func (t *transcript) use(u use) {
	body := "Base directory for this skill: /home/you/.claude/skills/dataviz\n\n" + skillBody(t.world.Seed())
	meta := record{Type: "user", Meta: true, Message: &message{Role: "user", Content: []content{{Type: "text", Text: body}}}}
	if u.slash {
		t.say("<command-message>dataviz</command-message>\n<command-name>/dataviz</command-name>\n<command-args>" + u.prompt + "</command-args>")
		t.last = "/dataviz " + u.prompt
		t.skill = t.world.Skill
	} else {
		t.say(u.prompt)
		meta.SourceTool = t.tool("Skill", map[string]string{"skill": t.world.Skill}, "Launching skill: "+t.world.Skill,
			map[string]any{"success": true, "commandName": t.world.Skill})
		t.skill = t.world.Skill
	}
	meta.PromptID = t.promptID
	t.write(meta)
	file := dataFile.FindString(u.prompt)
	draw := "python3 plot.py " + file + ".csv " + file + ".svg"
	if u.ending == "interrupt" {
		t.tool("Bash", map[string]string{"command": draw + " --pie"}, "done", nil)
		t.write(record{Type: "user", PromptID: t.promptID, Message: &message{Role: "user",
			Content: []content{{Type: "text", Text: "[Request interrupted by user]"}}}})
		return
	}
	missed := map[string]bool{}
	for _, l := range u.missed {
		missed[l.ID] = true
	}
	var followed []simulated.Lesson
	for _, l := range u.lessons {
		if !missed[l.ID] {
			followed = append(followed, l)
		}
	}
	if t.IntN(4) > 0 {
		draw = "" // most answers come without a command, to keep the files small
	}
	t.answer(t.report(followed), draw)
	if len(u.missed) > 0 {
		t.say(capital(strings.ReplaceAll(t.deal("corrections", corrections), "{s}", says(u.missed))))
		t.answer(t.report(u.lessons), "")
	}
	if u.ending == "thanks" {
		t.say(t.deal("thanks", thanks))
	}
}

// report is the answer of an agent that followed ls, as the simulated agent
// would give it.
func (t *transcript) report(ls []simulated.Lesson) string {
	text := t.world.Opening
	for _, l := range ls {
		text += "\n" + l.Outcome
	}
	return text
}

func says(ls []simulated.Lesson) string {
	var s []string
	for _, l := range ls {
		s = append(s, l.Says)
	}
	return strings.Join(s, ". And ")
}

// capital begins s with a capital if the text before it ends a sentence.
func capital(s string) string {
	r := []rune(s)
	for i := 2; i < len(r); i++ {
		if r[i-2] == '.' && r[i-1] == ' ' {
			r[i] = unicode.ToUpper(r[i])
		}
	}
	return string(r)
}

// skillBody is what a skill's text is without its frontmatter.
func skillBody(s string) string {
	_, rest, _ := strings.Cut(s, "---\n")
	_, rest, _ = strings.Cut(rest, "---\n")
	return strings.TrimLeft(rest, "\n")
}

// close writes the bookkeeping that ends a file, and returns the whole.
func (t *transcript) close() string {
	t.line(map[string]any{"type": "last-prompt", "lastPrompt": t.last, "leafUuid": *t.parent, "sessionId": t.session})
	return t.out.String()
}
