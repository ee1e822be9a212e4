package codex

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/harvest"
)

// transcript follows one file line by line and builds its session.
type transcript struct {
	s *harvest.Draft

	meta    bool   // the session's own session_meta was read; those of its parents follow
	kinds   bool   // user messages have kinds: the events that repeat them are not needed
	records bool   // usage comes in records: the running totals are not needed
	stamp   []byte // time of the last line, unparsed
	task    string // id of the task under way
	begun   time.Time
	answer  string // last assistant text of the last turn, raw
	total   string // the last running total of usage, raw

	turns     map[string]int  // task: the turn that began it
	tools     map[string]ref  // calls without a result
	reads     map[string]read // calls that may print a SKILL.md
	seen      map[string]bool // ids of user messages
	responses map[string]bool // whose usage is counted

	here    string            // the working folder of the task, if it is not the session's
	calls   map[string]bool   // ids of all calls, if their work is kept
	running map[string]string // process: the call whose command goes on in it
	polls   map[string]string // call: the one for whose command it waits
}

type ref struct{ turn, tool int }

// read is a call that looks like the reading of a skill.
type read struct {
	line    int
	entry   string
	command string
	at      time.Time
}

func newTranscript(file string, o harvest.Options) *transcript {
	return &transcript{
		s:     harvest.NewDraft(Agent, sessionID(file), file, o),
		turns: make(map[string]int), tools: make(map[string]ref), reads: make(map[string]read),
		seen: make(map[string]bool), responses: make(map[string]bool),
		calls: make(map[string]bool), running: make(map[string]string), polls: make(map[string]string),
	}
}

// take processes line n. It reports whether the line has a type.
func (t *transcript) take(n int, line []byte) bool {
	rec := gjson.ParseBytes(line)
	kind, p := rec.Get("type").Str, rec.Get("payload")
	at := harvest.When(rec.Get("timestamp").Str)
	if t.s.Started.IsZero() {
		t.s.Started = at
	}
	switch kind {
	case "session_meta":
		t.name(p)
	case "turn_context":
		if t.s.Model == "" {
			t.s.Model = strings.Clone(p.Get("model").Str)
		}
	case "token_usage_record":
		t.record(p)
	case "response_item":
		t.item(n, p, at)
	case "event_msg":
		t.event(n, p, at)
	}
	return kind != ""
}

// name takes the session's identity from its first session_meta: a fork repeats its
// parent's after its own.
func (t *transcript) name(p gjson.Result) {
	if t.meta {
		return
	}
	t.meta = true
	if id := p.Get("id").Str; id != "" {
		t.s.ID = strings.Clone(id)
	}
	t.s.CWD = strings.Clone(p.Get("cwd").Str)
	t.s.Branch = strings.Clone(p.Get("git.branch").Str)
	t.s.Commit = strings.Clone(p.Get("git.commit_hash").Str)
	source := p.Get("source")
	switch originator := p.Get("originator").Str; {
	case source.Get("subagent").Exists() || p.Get("thread_source").Str == "subagent":
		t.s.Subagent, t.s.Headless = t.s.ID, true
	case source.Str == "exec" || source.Str == "mcp" || originator == "codex_exec" || strings.HasPrefix(originator, "codex_sdk"):
		t.s.Headless = true
	}
}

func (t *transcript) item(n int, p gjson.Result, at time.Time) {
	kind := p.Get("type").Str
	switch {
	case kind == "message" && p.Get("role").Str == "user":
		t.user(n, p, at)
	case kind == "message" && p.Get("role").Str == "assistant":
		t.say(p.Get("content"))
	case strings.HasSuffix(kind, "_call"):
		t.call(n, strings.TrimSuffix(kind, "_call"), p, at)
	case strings.HasSuffix(kind, "_output"):
		t.printed(p)
	}
}

// user handles a message in the user's name. The user typed only some of its parts;
// newer versions mark which.
func (t *transcript) user(n int, p gjson.Result, at time.Time) {
	const meta = "internal_chat_message_metadata_passthrough."
	kinds := p.Get(meta + "content_item_kinds").Array()
	t.kinds = t.kinds || len(kinds) > 0
	id := p.Get("id").Str
	if id != "" && t.seen[id] {
		return
	}
	if id != "" {
		t.seen[strings.Clone(id)] = true
	}
	var typed, skills []string
	i := 0
	p.Get("content").ForEach(func(_, part gjson.Result) bool {
		text, kind := part.Get("text").Str, ""
		if i < len(kinds) {
			kind = kinds[i].Str
		}
		i++
		switch {
		case kind == "user.text":
			typed = append(typed, text)
		case kind == "skills.selected_skill_instructions", kind == "" && strings.HasPrefix(text, "<skill>\n"):
			skills = append(skills, text)
		case kind == "generic.turn_aborted", kind == "" && strings.HasPrefix(text, "<turn_aborted>"):
			if len(t.s.Turns) > 0 && strings.Contains(text, "interrupted") {
				t.s.Last().Interrupted = true
			}
		}
		return true
	})
	if text := ide(strings.Join(typed, "\n")); text != "" {
		t.open(n, p.Get(meta+"turn_id").Str, id, text, at)
	}
	for i, text := range skills {
		t.mention(n, i, id, text, at)
	}
}

// open begins the turn of a prompt, and the use of a skill if it is a command.
func (t *transcript) open(n int, task, entry, text string, at time.Time) {
	if task == "" {
		task = t.task
	}
	id := task
	if _, used := t.turns[task]; used && task != "" {
		id = entry // what was typed while the agent was at work belongs to its task
	}
	t.flush()
	prompt := t.s.Typed(text)
	t.s.Turns = append(t.s.Turns, harvest.Turn{ID: strings.Clone(id), Time: at, Prompt: prompt})
	if task != "" && id == task {
		t.turns[strings.Clone(task)] = len(t.s.Turns) - 1
	}
	clear(t.tools)
	clear(t.reads)
	if t.s.Subagent != "" {
		return // written by the parent agent
	}
	if skill, ok := harvest.SlashCommand(prompt); ok {
		id := harvest.PromptEventID(Agent, skill, at)
		if id == "" {
			id = lineID(n)
		}
		t.s.Invoke(harvest.Invocation{ID: id, Skill: skill, Signal: harvest.PromptSlashCommand, Line: n, EntryID: strings.Clone(entry), Time: at})
	}
}

// mention records the skill that the user named: the program then adds its file.
func (t *transcript) mention(n, part int, entry, text string, at time.Time) {
	name, file, body, whole := skillBlock(text)
	if name == "" {
		return
	}
	t.s.Last()
	v := harvest.Invocation{ID: lineID(n), Skill: t.s.Clean(name), Signal: harvest.DollarMention, Line: n, EntryID: strings.Clone(entry), Time: at}
	if entry != "" {
		v.ID = "codex-skill-" + entry
		if part > 0 {
			v.ID += fmt.Sprintf("-%d", part)
		}
	}
	if _, dir, ok := harvest.SkillFile(file); ok {
		v.Dir = t.s.Folder(dir)
	}
	if whole {
		v.BodyHash = harvest.Hash(body)
	}
	t.s.Invoke(v)
}

// lineID names an invocation that has no id of its own.
func lineID(n int) string { return fmt.Sprintf("codex-skill-line-%d", n) }

// of is the turn that began a task; the last turn if that is not known.
func (t *transcript) of(task string) *harvest.Turn {
	if i, ok := t.turns[task]; ok {
		return &t.s.Turns[i]
	}
	return t.s.Last()
}

func (t *transcript) say(content gjson.Result) {
	var parts []string
	content.ForEach(func(_, part gjson.Result) bool {
		if text := part.Get("text").Str; strings.TrimSpace(text) != "" {
			parts = append(parts, text)
		}
		return true
	})
	if len(parts) > 0 {
		t.s.Last()
		t.answer = strings.Clone(strings.Join(parts, "\n\n"))
	}
}

// flush keeps the last text of the turn. Earlier texts were never the answer, so they
// are not redacted at all.
func (t *transcript) flush() {
	if t.answer != "" {
		t.s.Last().Answer = t.s.Said(t.answer)
		t.answer = ""
	}
}

func (t *transcript) event(n int, p gjson.Result, at time.Time) {
	task := p.Get("turn_id").Str
	switch p.Get("type").Str {
	case "task_started", "turn_started":
		t.task, t.begun = strings.Clone(task), at
	case "user_message":
		kind := p.Get("kind").Str
		if text := human(p.Get("message").Str); !t.kinds && text != "" && (kind == "" || kind == "plain") {
			t.open(n, task, "", text, at)
		}
	case "item_completed":
		t.itemEvent(n, p.Get("item"), task, at)
	case "exec_command_end", "patch_apply_end":
		t.nested(p)
	case "token_count":
		t.count(p.Get("info"))
	case "error":
		if len(t.s.Turns) > 0 {
			t.s.Last().APIErrors++
		}
	case "task_complete", "turn_complete":
		if len(t.s.Turns) == 0 {
			return
		}
		turn := t.of(task)
		t.took(turn, p, at)
		if p.Get("error").IsObject() && turn.APIErrors == 0 {
			turn.APIErrors++
		}
		if text := p.Get("last_agent_message").Str; text != "" && t.answer == "" && t.s.Last().Answer == "" {
			t.answer = strings.Clone(text)
		}
	case "turn_aborted":
		if len(t.s.Turns) == 0 {
			return
		}
		t.took(t.of(task), p, at)
		if why := p.Get("reason").Str; why == "interrupted" || why == "" {
			t.s.Last().Interrupted = true
		}
	}
}

func (t *transcript) itemEvent(n int, item gjson.Result, task string, at time.Time) {
	if item.Get("type").Str != "UserMessage" {
		t.completed(n, item, at)
		return
	}
	var parts []string
	item.Get("content").ForEach(func(_, part gjson.Result) bool {
		if part.Get("type").Str == "text" {
			parts = append(parts, part.Get("text").Str)
		}
		return true
	})
	text := human(strings.Join(parts, "\n"))
	if t.kinds || text == "" {
		return
	}
	// The same message may have come as a user_message just before.
	if n := len(t.s.Turns); n > 0 && t.answer == "" && len(t.s.Turns[n-1].Tools) == 0 {
		if kept, same := t.s.Peek(text); same && t.s.Turns[n-1].Prompt == kept {
			return
		}
	}
	t.open(n, task, item.Get("id").Str, text, at)
}

// finish returns the session, or nil if it has no messages.
func (t *transcript) finish(problems []harvest.Problem) *harvest.Session {
	t.flush()
	t.s.Ended = harvest.When(string(t.stamp))
	if t.s.Ended.Before(t.s.Started) {
		t.s.Ended = t.s.Started
	}
	return t.s.Finish(problems, nil)
}
