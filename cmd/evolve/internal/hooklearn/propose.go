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
	"github.com/skill-evolve/evolve/eval/guard/rulefile"
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
	List string `json:"list"` // deny, or ask if calls like these ran or were permitted, or if it is a guess
	Rule string `json:"rule"`
	File string `json:"file"` // the settings that it belongs into
	tally
}

// A RuleFile is a hook that stops a program's commands with some words, where no rule of the
// settings tells the calls. No such call ran or was permitted.
type RuleFile struct {
	Rule   rulefile.Rule `json:"rule"`
	Score  *guard.Score  `json:"score"`
	Folder string        `json:"folder,omitempty"` // where it was written

	call string // that it is to stop
}

// words are the program and those behind it.
func (f *RuleFile) words() string {
	return strings.Join(append([]string{f.Rule.Program}, f.Rule.Words...), " ")
}

// Entry is what the settings get.
func (g *Guard) Entry() string {
	rule, err := json.Marshal(g.Rule)
	if err != nil {
		panic(err) // a text can be marshalled
	}
	return fmt.Sprintf(`"permissions": {%q: [%s]}`, g.List, rule)
}

// A taught call is one that a rule is learned from.
type taught struct {
	in *hooktest.Session
	*events.Event
}

// call is what a rule of the settings sees of an event.
func call(s *hooktest.Session, e *events.Event) permission.Call {
	return permission.Call{Tool: e.Tool, Input: refusals.Input(e), Project: s.CWD}
}

// A proposal is the guard that is learned from some calls, or why there is none.
type proposal struct {
	guard   *Guard
	file    *RuleFile
	none    string
	matches func(permission.Call) bool
	project string // the only one that it is about; "" for all
}

// learn proposes the guard that holds a rule, from calls that broke it and from all calls of sessions.
func learn(rule string, of []taught, sessions []*hooktest.Session, red redact.Redactor) (p proposal) {
	var calls []permission.Call
	own, in := map[*events.Event]bool{}, map[*hooktest.Session]bool{}
	for _, c := range of {
		if c.in.Agent == claudeCode {
			own[c.Event], in[c.in] = true, true
			calls = append(calls, call(c.in, c.Event))
		}
	}
	g := &Guard{File: ownSettings}
	if len(calls) > 0 && calls[0].Project != "" && !slices.ContainsFunc(calls, func(c permission.Call) bool { return c.Project != calls[0].Project }) {
		p.project = calls[0].Project
		g.File = filepath.Join(p.project, ".claude", "settings.local.json") // one person refused: settings.json is the team's
	}
	entry, ok := permission.Propose(calls, rule)
	g.Rule, p.matches = entry.String(), entry.Matches
	defer func() {
		if p.none != "" {
			p.words(rule, calls, own, sessions, red)
		}
	}()
	if clean, _ := red.Redact(g.Rule); clean != g.Rule || !ok || p.project == "" && strings.HasPrefix(entry.Spec, "/") {
		p.none = "no beginning of a command and no path tells these calls"
		if len(calls) == 0 {
			p.none = "Codex has no such rules"
		}
		return p
	}
	g.tally = p.replay(own, sessions)
	if g.OtherSessions > len(in) {
		p.none = fmt.Sprintf("%s is about %s that ran or that you permitted, in %s", g.Rule, plain.Counted(g.Others, "call"), plain.Counted(g.OtherSessions, "session"))
		return p
	}
	g.List = "deny"
	if g.Others > 0 || !entry.Told(calls, rule) {
		g.List = "ask"
	}
	p.guard = g
	return p
}

// words sets the rule file of a proposal, if there is one that stops no call that ran or was
// permitted.
func (p *proposal) words(rule string, calls []permission.Call, own map[*events.Event]bool, sessions []*hooktest.Session, red redact.Redactor) {
	r, ok := permission.ProposeFile(calls, rule)
	f := &RuleFile{Rule: r}
	if f.call = f.words(); !ok {
		return
	}
	if clean, _ := red.Redact(f.call); clean != f.call {
		return
	}
	p.matches = func(c permission.Call) bool { return r.Matches(c.ForFile()) }
	t := p.replay(own, sessions)
	if f.Score = t.Score; t.Others == 0 {
		p.file = f
	}
}

// propose sets the guard of a rule, or why there is none, and what is held out of it.
func (r *Rule) propose(sessions []*hooktest.Session, red redact.Redactor) {
	p := learn(r.Rule, r.of, sessions, red)
	r.Guard, r.File, r.None = p.guard, p.file, p.none
	if r.File != nil {
		did := "refused"
		if r.Calls[0].ran() {
			did = "corrected"
		}
		r.File.Rule.Say = "Your user " + did + " this before: " + plain.Line(r.Rule)
		if call := r.Calls[0].What; p.matches(permission.Call{Tool: "Bash", Input: commandOf(call)}) {
			r.File.call = call
		}
	}
	if r.Guard != nil || r.File != nil {
		r.Held = r.holdOut(sessions, red)
	}
}

func commandOf(line string) json.RawMessage {
	input, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		panic(err) // a text can be marshalled
	}
	return input
}

// write makes the folder of a rule file in dir.
func (r *Rule) write(dir string) error {
	w, err := newhook.WriteRule(dir, named("no "+r.File.words()), r.File.Rule, r.File.call)
	if err == nil {
		r.File.Folder = w.Folder
	}
	return err
}

// named is the name of a hook that says what it does.
func named(words string) string {
	var parts []string
	for w := range strings.FieldsSeq(words) {
		parts = append(parts, strings.Trim(strings.Map(func(c rune) rune {
			if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
				return c
			}
			return '-'
		}, w), "-"))
	}
	name := strings.Join(parts, "-")
	return strings.TrimRight(name[:min(len(name), 40)], "-")
}

// text is a rule file for a person.
func (f *RuleFile) text() string {
	at := "; `--out DIR` writes it"
	if f.Folder != "" {
		at = ", in " + plain.Line(f.Folder)
	}
	return fmt.Sprintf("  guard  a rule file that stops a command of %s with %s%s\n%s", f.Rule.Program, strings.Join(f.Rule.Words, ", "), at, stops(f.Score))
}

// A tally is what a guard is about.
type tally struct {
	Score *guard.Score `json:"score"` // as if it stopped each call that it is about
	// Others are calls that it is about and that ran or were permitted, in so many sessions.
	Others        int `json:"others"`
	OtherSessions int `json:"other_sessions"`
}

// replay counts what a proposal is about in the sessions of its project. own are the calls that
// it should stop, wherever they are.
func (p *proposal) replay(own map[*events.Event]bool, sessions []*hooktest.Session) (t tally) {
	var cases []guard.Case
	for _, s := range sessions {
		if s.Agent != claudeCode {
			continue
		}
		elsewhere := p.project != "" && s.CWD != p.project
		before := t.Others
		for i := range s.Calls {
			e := &s.Calls[i]
			if elsewhere && !own[e] {
				continue
			}
			k := guard.Case{Session: s.ID, Refused: e.Outcome == events.Refused, Answer: guard.Answer{Decision: guard.GoOn}}
			about := !elsewhere && p.matches(call(s, e))
			if about {
				k.Answer.Decision = guard.Block
			}
			told := s.Told(e).Label
			switch {
			case own[e]:
				k.Label = guard.Stop
			case told == guard.Go:
				k.Label = guard.Go
			}
			if about && told != guard.Stop && (e.Outcome == events.Permitted || e.Outcome == events.Ran) {
				t.Others++
			}
			cases = append(cases, k)
		}
		if t.Others > before {
			t.OtherSessions++
		}
	}
	t.Score = guard.Count(cases, false)
	return t
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
