package hooklearn

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/hooktest"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/newhook"
	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/eval/guard/permission"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest/events"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/harvest/refusals"
)

// claudeCode is the agent whose settings have such rules.
const claudeCode = "claude-code"

// ownSettings is a person's file for all projects.
const ownSettings = "~/.claude/settings.json"

// A Guard is a rule of Claude Code's settings, and what it would have been about.
type Guard struct {
	List  string       `json:"list"` // deny, or ask if calls like these ran or were permitted, or if it is a guess
	Rule  string       `json:"rule"`
	File  string       `json:"file"`  // the settings that it belongs into
	Score *guard.Score `json:"score"` // as if it stopped each call that it is about
	// Others are calls that it is about and that ran or were permitted, in so many sessions.
	Others        int `json:"others"`
	OtherSessions int `json:"other_sessions"`
}

// A Script is a hook that stops a program's commands with some words, where no rule of the
// settings tells the calls. No such call ran or was permitted.
type Script struct {
	Words  permission.Words `json:"words"` // the program first
	Score  *guard.Score     `json:"score"`
	Folder string           `json:"folder,omitempty"` // where it was written

	call string // that it is to stop
}

// Entry is what the settings get.
func (g *Guard) Entry() string {
	rule, err := json.Marshal(g.Rule)
	if err != nil {
		panic(err) // a text can be marshalled
	}
	return fmt.Sprintf(`"permissions": {%q: [%s]}`, g.List, rule)
}

// propose sets the guard of a rule, or why there is none.
func (r *Rule) propose(sessions []*hooktest.Session, red redact.Redactor) {
	folders := map[string]string{}
	for _, s := range sessions {
		if s.Agent == claudeCode {
			folders[s.ID] = s.CWD
		}
	}
	var calls []permission.Call
	own, project := map[string]bool{}, ""
	in := map[string]bool{}
	for _, c := range r.of {
		if c.Agent != claudeCode {
			continue
		}
		project = folders[c.Session]
		own[c.Session+"\x00"+c.ID], in[c.Session] = true, true
		calls = append(calls, permission.Call{Tool: c.Tool, Input: c.Input, Project: project})
	}
	g := &Guard{File: ownSettings}
	if project != "" && !slices.ContainsFunc(calls, func(c permission.Call) bool { return c.Project != project }) {
		g.File = filepath.Join(project, ".claude", "settings.local.json") // one person refused: settings.json is the team's
	} else {
		project = ""
	}
	rule, ok := permission.Propose(calls, r.Rule)
	g.Rule = rule.String()
	defer func() {
		if r.None != "" {
			r.script(calls, project, own, sessions, red)
		}
	}()
	if clean, _ := red.Redact(g.Rule); clean != g.Rule || !ok || project == "" && strings.HasPrefix(rule.Spec, "/") {
		r.None = "no beginning of a command and no path tells these calls"
		if len(calls) == 0 {
			r.None = "Codex has no such rules"
		}
		return
	}
	g.replay(rule.Matches, project, own, sessions)
	if g.OtherSessions > len(in) {
		r.None = fmt.Sprintf("%s is about %s that ran or that you permitted, in %s", g.Rule, plain.Counted(g.Others, "call"), plain.Counted(g.OtherSessions, "session"))
		return
	}
	g.List = "deny"
	if g.Others > 0 || !rule.Told(calls, r.Rule) {
		g.List = "ask"
	}
	r.Guard = g
}

// script sets the script of a rule, if there is one that stops no call that ran or was permitted.
func (r *Rule) script(calls []permission.Call, project string, own map[string]bool, sessions []*hooktest.Session, red redact.Redactor) {
	words, ok := permission.ProposeWords(calls, r.Rule)
	if text := strings.Join(words, " "); ok {
		clean, _ := red.Redact(text)
		ok = clean == text
	}
	if !ok {
		return
	}
	var g Guard
	if g.replay(words.Matches, project, own, sessions); g.Others > 0 {
		return
	}
	r.Script = &Script{Words: words, Score: g.Score, call: strings.Join(words, " ")}
	if call := r.Calls[0].What; words.Matches(permission.Call{Tool: "Bash", Input: commandOf(call)}) {
		r.Script.call = call
	}
}

func commandOf(line string) json.RawMessage {
	input, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		panic(err) // a text can be marshalled
	}
	return input
}

// write makes the folder of a rule's script in dir.
func (r *Rule) write(dir string) error {
	var name strings.Builder
	name.WriteString("no")
	for _, w := range r.Script.Words {
		name.WriteString("-" + strings.Trim(strings.Map(func(c rune) rune {
			if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
				return c
			}
			return '-'
		}, w), "-"))
	}
	short := strings.TrimRight(name.String()[:min(name.Len(), 40)], "-")
	w, err := newhook.WriteRule(dir, short, r.Script.Words, "Your user refused this before: "+r.Rule, r.Script.call)
	if err == nil {
		r.Script.Folder = w.Folder
	}
	return err
}

// text is a script for a person.
func (s *Script) text() string {
	at := "; `--out DIR` writes it"
	if s.Folder != "" {
		at = ", in " + plain.Line(s.Folder)
	}
	return fmt.Sprintf("  guard  a script that stops a command of %s with %s%s\n%s", s.Words[0], strings.Join(s.Words[1:], ", "), at, stops(s.Score))
}

// replay counts what a rule is about in the sessions of a project, of all for "". own are the
// calls that taught it.
func (g *Guard) replay(matches func(permission.Call) bool, project string, own map[string]bool, sessions []*hooktest.Session) {
	var cases []guard.Case
	for _, s := range sessions {
		if s.Agent != claudeCode || project != "" && s.CWD != project {
			continue
		}
		before := g.Others
		for i := range s.Events {
			e := &s.Events[i]
			k := guard.Case{Session: s.ID, Refused: e.Outcome == events.Refused, Answer: guard.Answer{Decision: guard.GoOn}}
			about := matches(permission.Call{Tool: e.Tool, Input: refusals.Input(e), Project: s.CWD})
			if about {
				k.Answer.Decision = guard.Block
			}
			switch {
			case own[s.ID+"\x00"+refusals.ID(e)]:
				k.Label = guard.Stop
			case e.Outcome == events.Permitted:
				k.Label = guard.Go
			}
			if about && (e.Outcome == events.Permitted || e.Outcome == events.Ran) {
				g.Others++
			}
			cases = append(cases, k)
		}
		if g.Others > before {
			g.OtherSessions++
		}
	}
	g.Score = guard.Count(cases, false)
}

// text is a guard for a person.
func (g *Guard) text() string {
	var b strings.Builder
	s := g.Score
	fmt.Fprintf(&b, "  guard  %s  in %s\n", plain.Line(g.Entry()), plain.Line(g.File))
	switch {
	case g.List == "ask" && g.Others == 0:
		fmt.Fprintf(&b, "         asks before %d of %d, and before none that ran or that you permitted; a guess: the rule does not say how far it goes\n", s.Stopped, s.Stop)
		return b.String()
	case g.List == "ask":
		fmt.Fprintf(&b, "         asks before %d of %d; and before %s that ran or that you permitted, in %s\n", s.Stopped, s.Stop, plain.Counted(g.Others, "call"), plain.Counted(g.OtherSessions, "session"))
		return b.String()
	}
	return b.String() + stops(s)
}

// stops says what a guard stops that stops no call that ran or was permitted.
func stops(s *guard.Score) string {
	var b strings.Builder
	fmt.Fprintf(&b, "         stops %d of %d, and none that ran or that you permitted", s.Stopped, s.Stop)
	if s.All.AtMost != nil {
		fmt.Fprintf(&b, "; wrongly in %d of %s: at most %s", s.All.Wrong, plain.Counted(s.All.Sessions, "session"), hooktest.Percent(*s.All.AtMost))
	}
	return b.String() + "\n"
}
