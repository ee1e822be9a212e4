package claude

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
)

// transcript follows one file line by line and builds its session.
type transcript struct {
	s *harvest.Draft

	named  bool   // the session's id, folder and branch are known
	cwd    []byte // the working folder of the last line that names one, raw
	dir    string // the same
	atEnd  []byte // the same with its key, if it was near the line's end
	answer string // message id of the text in the last turn's Answer
	usage  map[string]spent
	tools  map[string]ref  // calls of the last turn without a result yet
	skills map[string]int  // Skill calls without a result: index of the invocation
	typed  int             // invocation of the typed command whose text is still to come; -1
	args   string          // of that command
	local  bool            // the last turn is a typed command without any record after it
	held   *heldCommand    // a built-in command, until it is known to be one
	seen   map[string]bool // ids of human messages: a resumed file may repeat them
	loads  loads
}

type ref struct{ turn, tool int }

// heldCommand is a typed command with the name of a built-in one. It was a skill of
// that name if the skill's text or a call of it follows.
type heldCommand struct {
	name string
	open func() // opens its turn
}

// spent is the usage of one message. Every line of it repeats the usage; the last is
// the most complete.
type spent struct {
	turn  int
	usage eval.Usage
}

func newTranscript(file string, o harvest.Options) *transcript {
	t := &transcript{
		s: harvest.NewDraft(Agent, strings.TrimSuffix(filepath.Base(file), ".jsonl"), file, o), typed: -1,
		usage: make(map[string]spent), tools: make(map[string]ref), skills: make(map[string]int), seen: make(map[string]bool),
		loads: newLoads(),
	}
	t.s.Acts.Remembers(memories(file))
	return t
}

// awaited reports whether line may hold the result of a Skill call, or of a reading of
// a SKILL.md.
func (t *transcript) awaited(line []byte) bool {
	for id := range t.skills {
		if bytes.Contains(line, []byte(id)) {
			return true
		}
	}
	for id := range t.loads.reads {
		if bytes.Contains(line, []byte(id)) {
			return true
		}
	}
	return false
}

// line processes line n, which is valid JSON. It reports whether the line has a type.
func (t *transcript) line(n int, raw []byte) bool {
	rec := parseRecord(raw, t.named)
	if !kept[rec.kind] {
		return rec.kind != ""
	}
	if !t.named {
		t.name(rec)
	}
	if rec.kind == "assistant" && !rec.apiError && !rec.message.anthropic() {
		t.s.Answered("")
	}
	if rec.sidechain && t.s.Subagent == "" {
		return true // an older version: the subagent's lines are in its parent's file
	}
	if bytes.HasPrefix(rec.attachment, listingMark) {
		t.loads.list(rec.attachment)
		return true // not a message: its time does not count for the session
	}
	t.s.During(rec.at)
	switch rec.kind {
	case "user":
		t.user(n, rec)
	case "assistant":
		t.assistant(n, rec)
	case "system":
		t.system(rec)
	case "attachment":
		t.queued(n, rec)
	}
	return true
}

// name takes the session's identity from the first record that has one.
func (t *transcript) name(rec *record) {
	if rec.session == "" {
		return
	}
	t.named = true
	t.s.ID = rec.session
	if rec.sidechain && rec.agent != "" {
		t.s.ID, t.s.Subagent, t.s.Headless = rec.session+"/"+rec.agent, rec.agent, true
	}
	t.s.CWD, t.s.Branch = rec.cwd, rec.branch
}

// turn opens a new turn.
func (t *transcript) turn(id, prompt string, at time.Time) {
	t.s.Turns = append(t.s.Turns, harvest.Turn{ID: id, Time: at, Prompt: t.s.Typed(prompt)})
	t.answer, t.typed, t.args, t.local = "", -1, "", false
	clear(t.tools)
	clear(t.skills)
	t.loads.turn()
}

func (t *transcript) user(n int, rec *record) {
	if entry := rec.entrypoint; strings.HasPrefix(entry, "sdk") || strings.HasSuffix(entry, "github-action") {
		t.s.Headless = true
	}
	text, hasResult := content(rec.message.content)
	if hasResult {
		t.results(rec.message.content)
		if strings.HasPrefix(text, interruptMark) { // the user refused the tool
			t.s.Last().Interrupted = true
		}
		t.body("", text) // some versions inject the skill's text beside the result
		return
	}
	if rec.meta {
		t.body(rec.sourceTool, text)
		return
	}
	t.held = nil
	if strings.HasPrefix(text, interruptMark) {
		t.s.Last().Interrupted = true
		return
	}
	if rec.promptSource == "system" || rec.hidden {
		return
	}
	if strings.HasPrefix(strings.TrimSpace(text), "<local-command-std") {
		t.dropLocal()
		return
	}
	if harvest.Injected(text) { // not marked so by an older version
		t.body("", text)
		return
	}
	if rec.promptSource == "sdk" {
		t.s.Headless = true
	}
	if rec.uuid != "" && t.seen[rec.uuid] {
		return
	}
	t.seen[rec.uuid] = rec.uuid != ""
	t.prompt(n, rec.promptID, rec.uuid, text, rec.at)
}

// queued handles what the user typed while the agent was at work.
func (t *transcript) queued(n int, rec *record) {
	a := gjson.ParseBytes(rec.attachment)
	if a.Get("type").Str != "queued_command" {
		return
	}
	if mode := a.Get("commandMode").Str; mode != "" && mode != "prompt" || foreign([]byte(a.Get("origin").Raw)) {
		return
	}
	text, _ := content([]byte(a.Get("prompt").Raw))
	id := a.Get("source_uuid").Str
	if id == "" {
		id = rec.uuid
	}
	if t.seen[id] {
		return
	}
	t.seen[id] = id != ""
	t.prompt(n, id, rec.uuid, text, rec.at)
}

// prompt opens a turn if the user typed (some of) text.
func (t *transcript) prompt(n int, promptID, entry, text string, at time.Time) {
	name, args, isCommand := command(text)
	if isCommand {
		text = strings.TrimSpace("/" + name + " " + args)
		if builtin(name) {
			t.held = &heldCommand{name, func() { t.open(n, promptID, entry, text, args, at) }}
			return
		}
	} else if text = human(text); text == "" {
		return
	} else if skill, ok := harvest.SlashCommand(text); ok {
		if builtin(skill) {
			return
		}
		_, args, _ = strings.Cut(text, " ")
	}
	t.open(n, promptID, entry, text, args, at)
}

// open begins the turn of a prompt, and the use of a skill if it is a command.
func (t *transcript) open(n int, promptID, entry, text, args string, at time.Time) {
	if promptID == "" || slices.ContainsFunc(t.s.Turns, func(u harvest.Turn) bool { return u.ID == promptID }) {
		promptID = entry // messages that were sent together share one prompt
	}
	t.turn(promptID, text, at)
	if t.s.Subagent != "" {
		return // written by the parent agent
	}
	t.loads.places[len(t.s.Turns)-1] = place{n, entry}
	skill, ok := harvest.SlashCommand(t.s.Last().Prompt) // redacted
	if !ok || len(skill) > harvest.MaxName {
		return
	}
	t.typed, t.args, t.local = len(t.s.Invocations), strings.TrimSpace(args), true
	id := harvest.PromptEventID(Agent, skill, at)
	if id == "" {
		id = lineID(n)
	}
	t.invoke(harvest.Invocation{ID: id, Skill: skill, Signal: harvest.PromptSlashCommand, Line: n, EntryID: entry, Time: at})
}

// lineID names an invocation that has neither a tool's id nor a time.
func lineID(n int) string { return fmt.Sprintf("claude-skill-line-%d", n) }

// dropLocal removes a typed command that turned out to be the program's own: it printed
// something, and no model was called.
func (t *transcript) dropLocal() {
	if !t.local || t.typed < 0 {
		return
	}
	t.s.Invocations = t.s.Invocations[:t.typed]
	t.s.Turns = t.s.Turns[:len(t.s.Turns)-1]
	t.typed, t.local = -1, false
}

// results records which tools failed.
func (t *transcript) results(content []byte) {
	blocks(content, func(b *block) {
		if b.kind != "tool_result" {
			return
		}
		bad := b.isError
		if i, ok := t.skills[b.toolUseID]; ok {
			text := string(b.content)
			bad = bad || strings.Contains(text, "Unknown skill") || strings.Contains(text, `"<tool_use_error>`)
			t.s.Invocations[i].Failed = bad
			delete(t.skills, b.toolUseID)
		}
		t.looked(b.toolUseID, bad)
		turn, name := len(t.s.Turns)-1, ""
		if r, ok := t.tools[b.toolUseID]; ok {
			turn, name = r.turn, t.s.Turns[r.turn].Tools[r.tool].Name
			t.s.Turns[r.turn].Tools[r.tool].Failed = bad
			delete(t.tools, b.toolUseID)
		}
		t.done(b, turn, name)
	})
}

func (t *transcript) assistant(n int, rec *record) {
	turn := t.s.Last()
	t.local = false
	m := rec.message
	if m.model == synthetic || rec.apiError {
		if rec.apiError {
			turn.APIErrors++
		}
		return
	}
	if t.s.Model == "" {
		t.s.Model = m.model
	}
	t.spend(m.id, m.usage)
	t.loads.message(m.id, rec.attribution, len(t.s.Invocations))
	blocks(m.content, func(b *block) {
		switch b.kind {
		case "text":
			t.say(m.id, str(b.text))
			t.loads.plan(len(t.s.Turns)-1, n, rec, str(b.text))
		case "tool_use":
			t.call(n, rec, b)
		}
	})
}

// say makes text the answer of the turn, or adds it to the answer if the message has
// several blocks.
func (t *transcript) say(id, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	turn := t.s.Last()
	text = t.s.Said(text)
	if id != "" && id == t.answer {
		text = harvest.Clip(turn.Answer + "\n\n" + text)
	}
	turn.Answer, t.answer = text, id
}

func (t *transcript) call(n int, rec *record, b *block) {
	id, name := b.id, b.name
	skill := ""
	if name == "Skill" {
		skill = t.s.Skill(gjson.GetBytes(b.input, "skill").Str)
	}
	if t.held != nil && skill == t.held.name {
		t.held.open()
		t.held = nil
	}
	turn := t.s.Last()
	t.loads.settle()
	t.look(n, rec, b)
	turn.Tools = append(turn.Tools, harvest.Tool{Name: t.s.Clean(name)})
	t.tools[id] = ref{len(t.s.Turns) - 1, len(turn.Tools) - 1}
	t.act(b)
	if skill != "" {
		t.load(n, rec, id, skill)
	}
}

func (t *transcript) spend(id string, raw []byte) {
	if len(raw) == 0 || raw[0] != '{' {
		return
	}
	if id == "" {
		id = fmt.Sprintf("\x00%d", len(t.usage))
	}
	at := len(t.s.Turns) - 1
	if old, ok := t.usage[id]; ok {
		at = old.turn
	}
	t.usage[id] = spent{at, parseUsage(raw)}
}

func (t *transcript) system(rec *record) {
	if len(t.s.Turns) == 0 {
		return
	}
	switch rec.subtype {
	case "turn_duration":
		ms := rec.duration
		t.s.Last().DurationMS = &ms
	case "api_error":
		t.s.Last().APIErrors++
	}
}

// finish returns the session, or nil if it has no messages.
func (t *transcript) finish(problems []harvest.Problem) *harvest.Session {
	for _, u := range t.usage {
		t.s.Turns[u.turn].Spend(u.usage)
	}
	return t.s.Finish(problems, func(name string) bool { return t.loads.inForce[name] || t.loads.lists(name) }, t.mentions)
}
