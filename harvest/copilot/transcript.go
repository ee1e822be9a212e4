package copilot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/ownwords"
)

// transcript follows one file event by event and builds its session.
//
// A subagent's events are in the file of its parent. Its usage and the skills that it
// used belong to the turn that called it; its messages and tools do not.
type transcript struct {
	s *harvest.Draft

	tools    map[string]call     // calls by id
	loading  map[string]pending  // calls that load a skill and are still running
	requests map[string]bool     // model calls whose usage is counted
	prompts  map[string]bool     // ids of human messages that were seen
	asked    map[string]question // open questions for permission
	waited   time.Duration       // for a person's permission, in the last turn
	early    *harvest.Invocation // a skill that was loaded by hand, before the prompt it is for
	selected string              // model
	total    *eval.Usage         // of the session, if it was shut down properly
	steps    bool                // the usage of single calls was recorded
	invoked  map[string]bool     // skills with a skill.invoked event
}

// call locates a tool for recording its outcome; tool is -1 for a subagent's.
type call struct{ turn, tool int }

// question is one for permission.
type question struct {
	at   time.Time
	call string // for which
}

// pending is the use of a skill by a call that is still running: an invocation's index,
// or a read of its file that is not recorded as a use yet.
type pending struct {
	use  int
	read *harvest.Invocation
}

func newTranscript(file string, o harvest.Options) *transcript {
	return &transcript{
		s:     harvest.NewDraft(Agent, sessionID(file), file, o),
		tools: make(map[string]call), loading: make(map[string]pending), requests: make(map[string]bool),
		prompts: make(map[string]bool), asked: make(map[string]question), invoked: make(map[string]bool),
	}
}

// an event is one line with its common fields parsed.
type event struct {
	line int
	kind string
	id   string
	at   time.Time
	sub  bool // of a subagent
	data gjson.Result
}

// take processes line n, which is valid JSON. It reports whether the line has a type.
func (t *transcript) take(n int, raw []byte) bool {
	rec := gjson.ParseBytes(raw)
	e := event{line: n, kind: rec.Get("type").Str, id: rec.Get("id").Str, data: rec.Get("data")}
	if !slices.Contains(kept, e.kind) || rec.Get("ephemeral").Bool() {
		return strings.Contains(e.kind, ".")
	}
	e.sub = rec.Get("agentId").Str != "" || e.data.Get("parentToolCallId").Str != ""
	e.at = harvest.When(rec.Get("timestamp").Str)
	t.s.During(e.at)
	switch e.kind {
	case "session.start", "session.resume":
		t.begin(e)
	case "session.context_changed":
		t.s.In(e.data.Get("cwd").Str)
	case "user.message":
		t.user(e)
	case "assistant.message":
		t.assistant(e)
	case "assistant.turn_end":
		t.pause(e)
	case "tool.execution_start":
		t.call(e, e.data.Get("toolCallId").Str, e.data.Get("toolName").Str, e.data.Get("arguments"))
	case "tool.execution_complete":
		t.done(e)
	case "skill.invoked":
		t.loaded(e)
	case "session.usage_record":
		if e.data.Get("usage.isByok").Bool() {
			t.s.Answered("") // by a server of the user's own choice
		}
		t.spend(e.data.Get("usage"))
	case "session.error":
		if n := len(t.s.Turns); n > 0 {
			t.s.Turns[n-1].APIErrors += 1 + attempts(e.data.Get("message").Str)
		}
	case "session.shutdown":
		t.shutdown(e.data)
	case "abort":
		reason := e.data.Get("reason").Str
		if n := len(t.s.Turns); n > 0 && (reason == "" || strings.HasPrefix(reason, "user")) {
			t.s.Turns[n-1].Interrupted = true
		}
	case "permission.requested":
		t.asked[e.data.Get("requestId").Str] = question{e.at, e.data.Get("permissionRequest.toolCallId").Str}
	case "permission.completed":
		t.answered(e)
	}
	return true
}

// begin takes the session's identity. A resumed session may have another folder or
// branch by then; the first is kept.
func (t *transcript) begin(e event) {
	fill := func(s *string, v gjson.Result) {
		if *s == "" {
			*s = v.Str
		}
	}
	if id := e.data.Get("sessionId").Str; id != "" {
		t.s.ID = id
	}
	t.s.In(e.data.Get("context.cwd").Str)
	fill(&t.s.CWD, e.data.Get("context.cwd"))
	fill(&t.s.Branch, e.data.Get("context.branch"))
	fill(&t.s.Commit, e.data.Get("context.headCommit"))
	fill(&t.selected, e.data.Get("selectedModel"))
}

// user opens a turn, if a person typed the message.
func (t *transcript) user(e event) {
	if source := e.data.Get("source").Str; e.sub || source != "" && source != "user" || t.prompts[e.id] {
		return
	}
	text := strings.TrimSpace(ownwords.CutInjected(e.data.Get("content").Str))
	if text == "" {
		return
	}
	t.prompts[e.id] = e.id != ""
	id := e.data.Get("messageId").Str
	if id == "" {
		id = e.id
	}
	t.s.Turns = append(t.s.Turns, harvest.Turn{ID: id, Time: e.at, Prompt: t.s.Typed(text)})
	t.waited = 0
	clear(t.asked)
	if skill, ok := harvest.SlashCommand(t.s.Last().Prompt); ok && len(skill) <= harvest.MaxName && !slices.Contains(builtins, skill) {
		v := harvest.Invocation{ID: harvest.PromptEventID(Agent, skill, e.at), Skill: skill, Signal: harvest.PromptSlashCommand,
			Explicit: true, EntryID: e.id, Line: e.line, Time: e.at}
		if v.ID == "" {
			v.ID = nativeID("", e)
		}
		t.invoke(v)
	}
	if t.early != nil {
		t.load(*t.early, true)
		t.early = nil
	}
}

func (t *transcript) assistant(e event) {
	if t.early != nil {
		t.load(*t.early, false)
		t.early = nil
	}
	turn := t.s.Last()
	if !e.sub {
		if t.s.Model == "" {
			t.s.Model = e.data.Get("model").Str
		}
		if text := e.data.Get("content").Str; strings.TrimSpace(text) != "" {
			turn.Answer = t.s.Said(text)
		}
	}
	e.data.Get("toolRequests").ForEach(func(_, r gjson.Result) bool {
		t.call(e, r.Get("toolCallId").Str, r.Get("name").Str, r.Get("arguments"))
		return true
	})
}

// call records a tool call, and the use of a skill if it makes one.
func (t *transcript) call(e event, id, name string, args gjson.Result) {
	if _, ok := t.tools[id]; ok && id != "" {
		return
	}
	turn := t.s.Last()
	c := call{len(t.s.Turns) - 1, -1}
	if !e.sub {
		c.tool = len(turn.Tools)
		turn.Tools = append(turn.Tools, harvest.Tool{Name: t.s.Clean(name)})
	}
	if id != "" {
		t.tools[id] = c
	}
	t.act(c.turn, id, name, args)
	if args.Type == gjson.String { // some models' calls are recorded unparsed
		args = gjson.Parse(args.Str)
	}
	v := harvest.Invocation{ID: nativeID(id, e), ToolUseID: id, EntryID: e.id, Line: e.line, Time: e.at, Turn: c.turn}
	switch name {
	case "skill":
		v.Skill, v.Signal, v.Explicit, v.Tool = t.s.Skill(args.Get("skill").Str), harvest.SkillToolUse, true, name
		if v.Skill != "" {
			if use := t.invoke(v); id != "" && use >= 0 {
				t.loading[id] = pending{use: use}
			}
		}
	case "view":
		name, dir, ok := harvest.SkillFile(t.s.Clean(args.Get("path").Str))
		if v.Skill, v.Dir, v.Signal = t.s.Skill(name), dir, harvest.SkillFileRead; ok && id != "" && v.Skill != "" {
			t.loading[id] = pending{read: &v}
		}
	}
}

// nativeID names an invocation after the call that made it, or its line.
func nativeID(call string, e event) string {
	switch {
	case call != "":
		return Agent + "-skill-" + call
	case e.id != "":
		return Agent + "-skill-" + e.id
	}
	return fmt.Sprintf("%s-skill-line-%d", Agent, e.line)
}

// spend adds the usage of one model call. The program counts cached tokens as input.
func (t *transcript) spend(u gjson.Result) {
	id := u.Get("apiCallId").Str
	if !u.IsObject() || t.requests[id] {
		return
	}
	t.requests[id] = id != ""
	t.steps = true
	t.s.Last().Spend(usage(u))
}

func usage(u gjson.Result) eval.Usage {
	v := eval.Usage{
		Input:      u.Get("inputTokens").Int(),
		CacheRead:  u.Get("cacheReadTokens").Int(),
		CacheWrite: u.Get("cacheWriteTokens").Int(),
		Output:     u.Get("outputTokens").Int(),
		Reasoning:  u.Get("reasoningTokens").Int(),
	}
	v.Input = max(0, v.Input-v.CacheRead-v.CacheWrite)
	return v
}

// shutdown keeps the session's total, for versions that record no other usage.
func (t *transcript) shutdown(data gjson.Result) {
	metrics := data.Get("modelMetrics")
	if !metrics.IsObject() {
		return
	}
	t.total = new(eval.Usage) // cumulative: a resumed session's last one counts
	metrics.ForEach(func(_, m gjson.Result) bool {
		*t.total = t.total.Add(usage(m.Get("usage")))
		return true
	})
}

// pause records how long the turn took until the agent's latest pause, without the time
// in which it waited for a person.
func (t *transcript) pause(e event) {
	turn := t.s.Last()
	if e.sub || turn.Time.IsZero() || e.at.Before(turn.Time) {
		return
	}
	ms := max(0, e.at.Sub(turn.Time)-t.waited).Milliseconds()
	turn.DurationMS = &ms
}

// answered closes a question for permission. If it was closed because no person was
// there, a program drove the session; there is no other sure sign.
func (t *transcript) answered(e event) {
	if e.data.Get("decisionSource").Str == "unattended_fallback" {
		t.s.Headless = true
	}
	id := e.data.Get("requestId").Str
	q, ok := t.asked[id]
	delete(t.asked, id)
	if ok && len(t.asked) == 0 && !q.at.IsZero() && e.at.After(q.at) {
		t.waited += e.at.Sub(q.at)
	}
	if of := cmp.Or(e.data.Get("toolCallId").Str, q.call); of != "" {
		t.decided(of, e.data.Get("result"))
	}
}

// finish returns the session, or nil if it has no messages.
func (t *transcript) finish(problems []harvest.Problem) *harvest.Session {
	if t.early != nil {
		t.load(*t.early, false)
	}
	if !t.steps && t.total != nil && len(t.s.Turns) == 1 {
		t.s.Turns[0].Usage = t.total
	}
	if t.s.Model == "" {
		t.s.Model = t.selected
	}
	return t.s.Finish(problems, func(name string) bool { return t.invoked[name] })
}
