package hooklearn

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/hooktest"
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
	List  string       `json:"list"` // deny, or ask if calls like these ran or were permitted
	Rule  string       `json:"rule"`
	File  string       `json:"file"`  // the settings that it belongs into
	Score *guard.Score `json:"score"` // as if it stopped each call that it is about
	// Others are calls that it is about and that ran or were permitted, in so many sessions.
	Others        int `json:"others"`
	OtherSessions int `json:"other_sessions"`
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
		g.File = filepath.Join(project, ".claude", "settings.json")
	} else {
		project = ""
	}
	rule, ok := permission.Propose(calls, r.Rule)
	g.Rule = rule.String()
	if clean, _ := red.Redact(g.Rule); clean != g.Rule || !ok || project == "" && strings.HasPrefix(rule.Spec, "/") {
		r.None = "no beginning of a command and no path tells these calls"
		if len(calls) == 0 {
			r.None = "Codex has no such rules"
		}
		return
	}
	g.replay(rule, project, own, sessions)
	if g.OtherSessions > len(in) {
		r.None = fmt.Sprintf("%s is about %s that ran or that you permitted, in %s", g.Rule, plain.Counted(g.Others, "call"), plain.Counted(g.OtherSessions, "session"))
		return
	}
	g.List = "deny"
	if g.Others > 0 {
		g.List = "ask"
	}
	r.Guard = g
}

// replay counts what a rule is about in the sessions of a project, of all for "". own are the
// calls that taught it.
func (g *Guard) replay(rule permission.Rule, project string, own map[string]bool, sessions []*hooktest.Session) {
	var cases []guard.Case
	for _, s := range sessions {
		if s.Agent != claudeCode || project != "" && s.CWD != project {
			continue
		}
		before := g.Others
		for i := range s.Events {
			e := &s.Events[i]
			k := guard.Case{Session: s.ID, Refused: e.Outcome == events.Refused, Answer: guard.Answer{Decision: guard.GoOn}}
			about := rule.Matches(permission.Call{Tool: e.Tool, Input: refusals.Input(e), Project: s.CWD})
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
	if g.List == "ask" {
		fmt.Fprintf(&b, "         asks before %d of %d; and before %s that ran or that you permitted, in %s\n", s.Stopped, s.Stop, plain.Counted(g.Others, "call"), plain.Counted(g.OtherSessions, "session"))
		return b.String()
	}
	fmt.Fprintf(&b, "         stops %d of %d, and none that ran or that you permitted", s.Stopped, s.Stop)
	if s.All.AtMost != nil {
		fmt.Fprintf(&b, "; wrongly in %d of %s: at most %s", s.All.Wrong, plain.Counted(s.All.Sessions, "session"), hooktest.Percent(*s.All.AtMost))
	}
	return b.String() + "\n"
}
