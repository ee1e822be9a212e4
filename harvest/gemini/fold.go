package gemini

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/ownwords"
)

// session makes a session of the messages. It is nil if no message has text.
func (l *log) session(file string, o harvest.Options, problems []harvest.Problem) *harvest.Session {
	base := filepath.Base(file)
	s := harvest.NewDraft(Agent, cmp.Or(l.name, strings.TrimSuffix(base, filepath.Ext(base))), file, o)
	if s.CWD = cmp.Or(l.root, folder(file, l.hash)); s.CWD != "" {
		s.In(s.CWD)
		s.In(l.folders...)
	} else if len(l.folders) > 0 {
		s.Folders = append(slices.Clone(l.folders), "") // one of its folders is unknown
	}
	if l.kind == "subagent" {
		s.Subagent, s.Headless = s.ID, true
	}
	s.During(harvest.When(l.began))
	for i := range l.messages {
		take(s, &l.messages[i])
	}
	s.During(harvest.When(l.ended))
	if l.refused {
		problems = append(problems, harvest.Problem{Path: file, Reason: "more text than one session can have: the rest is left out"})
	}
	return s.Finish(problems, nil)
}

func take(s *harvest.Draft, m *message) {
	at := harvest.When(m.stamp)
	s.During(at)
	use := harvest.Invocation{Line: m.line, EntryID: m.id, Time: at}
	if m.kind == "user" {
		if m.text == "" {
			return
		}
		text := s.Typed(m.text)
		s.Turns = append(s.Turns, harvest.Turn{ID: m.id, Time: at, Prompt: text})
		if name, ok := harvest.SlashCommand(text); ok {
			use.Skill, use.Signal = name, harvest.PromptSlashCommand
			use.ID = cmp.Or(harvest.PromptEventID(Agent, name, at), fmt.Sprintf("gemini-skill-%s-%s", name, m.id))
			s.Invoke(use)
		}
		return
	}
	if len(s.Turns) == 0 {
		return
	}
	turn := s.Last()
	switch m.kind {
	case "info":
		turn.Interrupted = true
		return
	case "error":
		turn.APIErrors++
		return
	}
	if m.text != "" {
		turn.Answer = s.Said(m.text)
	}
	if began := turn.Time; !began.IsZero() && !at.Before(began) {
		ms := at.Sub(began).Milliseconds()
		turn.DurationMS = &ms
	}
	for i, c := range m.calls {
		turn.Tools = append(turn.Tools, harvest.Tool{Name: s.Clean(c.name), Failed: c.failed})
		c.act(s)
		if c.skill == "" || c.failed {
			continue
		}
		v := use
		v.Skill, v.Dir, v.ToolUseID, v.Signal = s.Skill(c.skill), s.Folder(c.dir), c.id, harvest.SkillFileRead
		if c.name == activate {
			v.Signal, v.Tool = harvest.SkillToolUse, activate
		}
		v.ID = "gemini-skill-" + cmp.Or(c.id, fmt.Sprintf("%s-%d", m.id, i))
		s.Invoke(v)
	}
	if m.usage != nil {
		turn.Spend(*m.usage)
	}
	if m.model != "" {
		s.Model = cmp.Or(s.Model, m.model)
		if !strings.Contains(m.model, "gemini") && !strings.Contains(m.model, "gemma") {
			s.Answered("") // by a server of somebody else's
		}
	}
}

const (
	contextTag = "<session_context>"
	referenced = "--- Content from referenced files ---"
)

// notes are the beginnings of messages in the user's name that the program writes: a
// shell command beside the conversation, and words that let the model go on.
var notes = []string{"I ran the following shell command:", "This is the Gemini CLI. We are setting up the context", "System: Please continue"}

// typed is what the person typed of a message in the user's name: not what the program
// tells of the session or its past, and not the files that it added.
func typed(text string) string {
	text, _, _ = strings.Cut(text, referenced)
	for _, tag := range []string{"session_context", "state_snapshot", "hook_context"} {
		from, to := strings.Index(text, "<"+tag+">"), strings.LastIndex(text, "</"+tag+">")
		if from >= 0 && to >= from {
			text = text[:from] + text[to+len("</"+tag+">"):]
		} else if from >= 0 {
			text = text[:from]
		}
	}
	text = strings.TrimSpace(ownwords.CutInjected(text))
	if text == "Please continue." || harvest.Injected(text) || slices.ContainsFunc(notes, func(n string) bool { return strings.HasPrefix(text, n) }) {
		return ""
	}
	return text
}
