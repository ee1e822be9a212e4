package hooktest

import (
	"cmp"
	"context"
	"encoding/json"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/eval/scratch"
	"github.com/skill-evolve/evolve/harvest/events"
	"github.com/skill-evolve/evolve/harvest/refusals"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/skill-evolve/evolve/tournament/hooks"
)

// A Hook is one whose script may evolve.
type Hook struct {
	Path   string // of its script
	Events []string

	of    *found
	parts Parts
}

// Hook finds a hook as `evolve hooks test` does, and its script. Errors: that there is none, or
// none that is one script.
func (p Parts) Hook(name, event string) (*Hook, error) {
	g, err := p.find(name, event)
	if err != nil {
		return nil, err
	}
	if len(g.scripts) != 1 {
		return nil, problem.Inputf("name the script by its path; what is in settings.json alone is no file that could be improved",
			"%s names %s, and not one script in sh, Python or JavaScript, or one rule file", plain.Arg(g.Command), plain.Counted(len(g.scripts), "such file"))
	}
	h := &Hook{Path: g.scripts[0], of: g, parts: p}
	for _, on := range g.on {
		h.Events = append(h.Events, on.Event)
	}
	return h, nil
}

// What is copied of the folder of a script, so that a new text of it finds what the old one
// does.
const (
	mostFiles = 64
	maxFile   = 1 << 20 // bytes
)

// Play replays a text of the script in its place.
func (h *Hook) Play(ctx context.Context, text []byte, sessions []hooks.Session) ([][]guard.Answer, error) {
	dir, err := scratch.Dir("", "evolve-guard-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	script := filepath.Join(dir, filepath.Base(h.Path))
	if err := h.stage(dir); err != nil {
		return nil, err
	}
	_ = os.Remove(script) // a copy that may not be written, or that has another mode
	if err := os.WriteFile(script, text, 0o700); err != nil {
		return nil, err
	}
	g := h.of.Guard
	g.Command = strings.ReplaceAll(g.Command, h.Path, script)
	if g.Command == h.of.Command {
		return nil, problem.Inputf("write its path without quotes", "%s does not name its script in one piece", plain.Arg(h.of.Command))
	}
	g.Readable = append(slices.Clone(g.Readable), dir)
	deliveries := make([]guard.Session, len(sessions))
	for i := range sessions {
		for _, e := range sessions[i].Events {
			deliveries[i] = append(deliveries[i], e.Event)
		}
	}
	return h.parts.deliver(ctx, &g, deliveries)
}

// stage copies the small files beside the script, if the sandbox shows its folder.
func (h *Hook) stage(to string) error {
	from := filepath.Dir(real(h.Path))
	if !slices.Contains(h.of.Readable, from) {
		return nil
	}
	n := 0
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		below, _ := filepath.Rel(from, path)
		switch {
		case err != nil || n >= mostFiles:
			return nil //nolint:nilerr // what cannot be read is not there for the hook
		case d.IsDir():
			if strings.Count(below, string(filepath.Separator)) > 1 || d.Name() == ".git" {
				return fs.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, below), 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		text, err := bounded.ReadFile(path, maxFile)
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		n++
		mode := fs.FileMode(0o600)
		if info, err := d.Info(); err == nil {
			mode = info.Mode().Perm() | 0o400
		}
		return os.WriteFile(filepath.Join(to, below), text, mode)
	})
}

// How many events are replayed of which nothing is known: before each labelled one of a
// session, because a hook may keep a state, and of all others together.
const (
	around = 20
	others = 400
)

// Evidence are the sessions in which it is known what the hook should do, with some of the
// others, in the order of time; may says whose events a model may be shown. Cases beside the
// script come first: who wrote them knows the hook.
func (h *Hook) Evidence(ctx context.Context, since string, may func(agent, session string) bool) ([]hooks.Session, error) {
	p := h.parts
	sessions, from, err := p.Recorded(ctx, since, h.of.agent, h.of.wants)
	if err != nil {
		return nil, err
	}
	db, err := p.Store(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := recall(ctx, db, sessions); err != nil {
		return nil, err
	}
	l, err := p.Label(ctx, db, sessions, Choice{h.of.agent, from, h.of.wants})
	if err != nil {
		return nil, err
	}
	sessions = l.Sessions
	var out []hooks.Session
	left := others
	// A sample that stays what it was when sessions are added: else a run that goes on asks anew.
	slices.SortFunc(sessions, func(a, b *Session) int { return cmp.Or(cmp.Compare(order(a), order(b)), strings.Compare(a.ID, b.ID)) })
	for _, s := range sessions {
		if db != nil {
			if gone, err := db.Purged(ctx, s.ID); err != nil {
				return nil, err
			} else if gone {
				continue
			}
		}
		one := h.session(s, may(s.Agent, s.ID))
		if !one.Labelled() {
			one.Events = one.Events[:min(len(one.Events), left)]
			left -= len(one.Events)
		}
		if len(one.Events) > 0 {
			out = append(out, one)
		}
	}
	cases, bad := h.own()
	if len(bad) > 0 {
		p.Terminal.Say("%s left out, no event of the hook with a decision: %s", plain.Counted(len(bad), "case"), plain.Line(strings.Join(bad, ", ")))
	}
	out = append(out, cases...)
	slices.SortStableFunc(out, func(a, b hooks.Session) int {
		if c := a.Time.Compare(b.Time); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return out, nil
}

// order is a session's in a sample.
func order(s *Session) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s.ID)) // it has no errors
	return h.Sum64()
}

// session is what is replayed of a recorded session. If some of its events are labelled, these
// and the events shortly before them are replayed. A forked session has the ID of the session
// that its calls are copied from, because a trial may have used those calls already.
func (h *Hook) session(s *Session, shown bool) hooks.Session {
	out := hooks.Session{ID: s.Agent + "/" + cmp.Or(s.copies, s.ID), Project: s.CWD, Time: s.Began()}
	last := -1 // labelled
	keep := make([]bool, len(s.Events))
	for k := range slices.Backward(s.Events) {
		if s.Told(&s.Events[k]).Label != guard.Unlabelled {
			last = k
		}
		keep[k] = last >= 0 && last-k <= around
	}
	for k := range s.Events {
		e := &s.Events[k]
		if last >= 0 && !keep[k] {
			continue
		}
		told := s.Told(e)
		one := hooks.Event{Event: h.of.event(e), Label: told.Label, Ran: e.Outcome == events.Ran}
		if shown {
			one.Shown = h.shown(e)
			one.Shown.Words, one.Shown.Rule = told.Words, told.Rule
		}
		out.Events = append(out.Events, one)
	}
	return out
}

func (h *Hook) shown(e *events.Event) *mutate.Call {
	return &mutate.Call{Tool: e.Tool, Input: refusals.Brief(refusals.Input(e), h.parts.Redactor())}
}

// decisions are those that a case may have.
var decisions = []string{"block", "ask", "allow", "context", "go"}

// maxCase bounds a file of a case, in bytes.
const maxCase = 64 << 10

// own are the cases in the folder beside the script, as `evolve hooks new` writes them: an event
// and the decision on it, and maybe an event that came before it.
// A file that is none, or of an event at which the hook is not called, is left out and named.
func (h *Hook) own() (out []hooks.Session, left []string) {
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(real(h.Path)), "cases", "*.json"))
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		var c struct {
			Decision string
			Event    json.RawMessage
			Before   json.RawMessage
		}
		type named struct {
			Name string `json:"hook_event_name"`
			Tool string `json:"tool_name"`
		}
		var in, first named
		text, err := bounded.ReadFile(path, maxCase)
		if err != nil || json.Unmarshal(text, &c) != nil || json.Unmarshal(c.Event, &in) != nil || !slices.Contains(h.Events, in.Name) || !slices.Contains(decisions, c.Decision) {
			left = append(left, name)
			continue
		}
		e := hooks.Event{Event: guard.Event{Name: in.Name, Input: c.Event}, Label: guard.Go}
		if c.Decision == string(guard.Block) {
			e.Label = guard.Stop
		}
		e.Shown = h.shown(&events.Event{Tool: in.Tool, Input: c.Event})
		e.Shown.Rule = "its author wrote this case: " + name
		one := hooks.Session{ID: hooks.OwnCase + filepath.Base(path), Events: []hooks.Event{e}}
		if json.Unmarshal(c.Before, &first) == nil && slices.Contains(h.Events, first.Name) {
			before := hooks.Event{Event: guard.Event{Name: first.Name, Input: c.Before}, Shown: h.shown(&events.Event{Tool: first.Tool, Input: c.Before})}
			one.Events = []hooks.Event{before, e}
		}
		out = append(out, one)
	}
	return out, left
}

// Key is the subject's.
func (h *Hook) Key(l *skill.Layout) (string, error) { return l.HookKey(h.Path) }
