package outgoing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/setup"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/store/datadir/policy"
)

// Agent is a, held to what was cleared for requests of the kind replay.
func (g *Control) Agent(to []agent.Recipient, a eval.Agent, owner *setup.Set) eval.Agent {
	if len(to) == 0 && g == nil {
		return a
	}
	return &heldAgent{a, g, to, owner}
}

// Model is m, held to what was cleared for requests of a kind.
func (g *Control) Model(kind string, to []agent.Recipient, m eval.Model) eval.Model {
	if len(to) == 0 && g == nil {
		return m
	}
	return &heldModel{m, g, kind, to}
}

type heldAgent struct {
	eval.Agent
	g     *Control
	to    []agent.Recipient
	owner *setup.Set
}

// Run is the agent's. The error is an *eval.InfraError of kind Refused if the request
// may not be sent.
func (h *heldAgent) Run(ctx context.Context, t eval.Task) (eval.Attempt, error) {
	if err := h.g.pass(ctx, agent.Replay, t.Case.ID, h.to, func() string { return describeTask(&t, h.owner) }); err != nil {
		return eval.Attempt{}, err
	}
	return h.Agent.Run(ctx, t)
}

// Ping is the agent's, if it has one: it sends no text.
func (h *heldAgent) Ping(ctx context.Context) error { return ping(ctx, h.Agent) }

type heldModel struct {
	eval.Model
	g    *Control
	kind string
	to   []agent.Recipient
}

// Complete is the model's; its error is as for heldAgent.Run.
func (h *heldModel) Complete(ctx context.Context, p eval.Prompt) (eval.Completion, error) {
	if err := h.g.pass(ctx, h.kind, "", h.to, func() string { return describePrompt(&p) }); err != nil {
		return eval.Completion{}, err
	}
	return h.Model.Complete(ctx, p)
}

// Ping is the model's, if it has one: it sends no text.
func (h *heldModel) Ping(ctx context.Context) error { return ping(ctx, h.Model) }

func ping(ctx context.Context, x any) error {
	if p, ok := x.(interface{ Ping(context.Context) error }); ok {
		return p.Ping(ctx)
	}
	return nil
}

// longWait is how long a request may wait for the owner's answer to another one, and
// still be sent: what is left of its time limit must be the model's.
const longWait = time.Second

// pass returns nil if a request may be sent. The first one of a kind to a vendor is shown
// and asked for; the others wait meanwhile. One that waited long has to be made again: its
// error is of kind Unreachable.
func (g *Control) pass(ctx context.Context, kind, kase string, to []agent.Recipient, describe func() string) error {
	refused := func(err error) error { return &eval.InfraError{Kind: eval.Refused, Err: err} }
	began := time.Now()
	if g == nil {
		return refused(errors.New("nobody has cleared what is sent"))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	fixed, err := g.reread()
	if err != nil {
		return refused(err)
	}
	if len(to) == 0 {
		to = []agent.Recipient{{}} // this machine
	}
	for _, r := range to {
		if err := allowed(fixed, r); err != nil {
			return refused(err)
		}
		p := permit{kind, r.Vendor, kase}
		if folder, denied := g.denied[p]; denied {
			use := "be used"
			if r.Vendor != "" {
				use = "go to " + r.Vendor
			}
			return refused(problem.Inputf("start again: what is still allowed is used", "text of %s may not %s any more: nothing was sent",
				Short(cmp.Or(folder, "no known folder")), use))
		}
		if r.Vendor == "" {
			continue
		}
		if _, ok := g.cleared[p]; !ok {
			return refused(problem.Refusef("please report this", "a %s request to %s was not cleared: nothing was sent", kind, r.Vendor))
		}
		if err := g.agreed(kind, r, g.cleared[p], describe); err != nil {
			return refused(err)
		}
	}
	if time.Since(began) > longWait {
		return &eval.InfraError{Kind: eval.Unreachable, Err: errors.New("it waited for the owner's answer")}
	}
	return nil
}

// reread looks which permits were taken back, if the owner's decisions or the policy of
// the machine have changed, and returns the policy. Callers hold g.mu.
func (g *Control) reread() (*policy.Policy, error) {
	p, fixed, err := g.policy()
	if err != nil {
		return nil, err
	}
	now, err := os.Stat(g.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read which text may be sent: %w", err)
	}
	was := g.read
	same := was == nil && now == nil || was != nil && now != nil && os.SameFile(was, now) && was.ModTime().Equal(now.ModTime()) && was.Size() == now.Size()
	if print := fixed.Print(); g.owner == nil || !same || g.fixed != print {
		d, err := consent.Read(g.File)
		if err != nil {
			return nil, err
		}
		g.read, g.owner, g.fixed, g.seen, g.denied = now, d, print, nil, map[permit]string{}
		for p, from := range g.cleared {
			var to []string
			if p.vendor != "" {
				to = []string{p.vendor}
			}
			for _, o := range from {
				if !readable(fixed, o) || !may(d, o, to) {
					g.denied[p] = strings.Join(o.folders, " and ")
					break
				}
			}
		}
	}
	return p, nil
}

// agreed returns nil if the owner has seen a request of this kind to a vendor, or now
// agrees to this one. Callers hold g.mu.
func (g *Control) agreed(kind string, to agent.Recipient, from []origin, describe func() string) error {
	this := consent.Request{Kind: kind, Vendor: to.Vendor}
	if g.seen[this] {
		return nil
	}
	if err := g.no[this]; err != nil {
		return err
	}
	if !seen(g.owner, kind, to.Vendor) {
		if g.Ask == nil {
			return unagreed(map[string][]string{to.Vendor: {kind}})
		}
		text := describe()
		if g.Redactor != nil {
			text, _ = g.Redactor().Redact(text)
		}
		text = plain.Text(strings.ReplaceAll(text, "\x1b", "␛")) // or it could hide from a terminal
		at := cmp.Or(to.Address(), "a host that nobody knows")
		ok, err := g.Ask(fmt.Sprintf("the first %s request to %s (%s), %s, as it is sent:\n\n%s\n", kind, to.Vendor, at, whose(from), text),
			fmt.Sprintf("Send this, and from now on all %s requests of allowed projects, to %s?", kind, to.Vendor))
		if err != nil {
			return err
		}
		if !ok {
			if g.no == nil {
				g.no = map[consent.Request]error{}
			}
			g.no[this] = &problem.Error{Kind: problem.Stopped, Err: fmt.Errorf("you did not agree to %s requests to %s", kind, to.Vendor), Hint: "choose another model with --agent, --reflect-agent or --judge-agent"}
			return g.no[this]
		}
		if err := Agree(g.File, to.Vendor, kind); err != nil {
			return err
		}
	}
	if g.seen == nil {
		g.seen = map[consent.Request]bool{}
	}
	g.seen[this] = true
	return nil
}

// whose says in words which projects a request holds text of, or may hold it of.
func whose(from []origin) string {
	var names []string
	for _, o := range from {
		for _, dir := range o.folders {
			names = append(names, Short(dir))
		}
		if len(o.folders) == 0 {
			names = append(names, "no known project")
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	switch n := len(names); {
	case n == 0:
		return "with no text of sessions"
	case n == 1:
		return "with text of " + names[0]
	case n > projectsShown+1:
		names = append(names[:projectsShown], fmt.Sprintf("%d more projects", n-projectsShown))
	}
	return "with text that may be of " + strings.Join(names, ", ")
}

// Agree keeps in a file of decisions that the owner agrees to kinds of requests to a
// vendor.
func Agree(file, vendor string, kinds ...string) error {
	return consent.Update(file, func(d *consent.Decisions) error {
		for _, kind := range kinds {
			if !seen(d, kind, vendor) {
				d.Seen = append(d.Seen, consent.Request{Kind: kind, Vendor: vendor})
			}
		}
		return nil
	})
}

func describePrompt(p *eval.Prompt) string {
	if p.System == "" {
		return p.User
	}
	return p.System + "\n\n" + p.User
}

// describeTask is all of a task that an agent gets, whatever form its backend gives it.
func describeTask(t *eval.Task, owner *setup.Set) string {
	var b strings.Builder
	part := func(name, text string) { fmt.Fprintf(&b, "%s (%s):\n%s\n\n", name, size(len(text)), text) }
	if t.Variant.Doc != nil {
		part("skill "+t.Variant.Name, string(t.Variant.Doc.Render()))
		for _, f := range filesIn(t.Variant.Dir) {
			if f.name != "SKILL.md" {
				fmt.Fprintf(&b, "file of the skill: %s (%s)\n", f.name, size(f.size))
			}
		}
	}
	for _, o := range t.Others {
		fmt.Fprintf(&b, "skill beside it: %s\n", o.Name)
	}
	if owner != nil {
		own := func(files []setup.File, before string) {
			for _, f := range files {
				fmt.Fprintf(&b, "your own: %s%s (%s)\n", before, f.Path, size(len(f.Text)))
			}
		}
		own(owner.Files, "~/")
		if w := t.Case.Workspace; w != nil {
			own(owner.NotesOf(w.Repo), "your agent's notes of "+Short(w.Repo)+", ")
		}
	}
	for _, m := range t.Case.Context {
		part("earlier, "+m.Role, m.Text)
	}
	part("request", t.Case.Prompt)
	for _, name := range slices.Sorted(maps.Keys(t.Case.Files)) {
		part("file "+name, t.Case.Files[name])
	}
	if w := t.Case.Workspace; w != nil && t.Workspace != "" {
		all, n := 0, 0
		for _, f := range filesIn(t.Workspace) {
			all, n = all+f.size, n+1
		}
		fmt.Fprintf(&b, "folder: %s of %s at %s (%s); the agent sends what it reads there\n\n", plain.Counted(n, "file"), Short(w.Repo), w.Commit, size(all))
	}
	if t.Prior != nil {
		part("earlier answer", t.Prior.Answer)
		part("what is wrong with it", strings.Join(t.Prior.Feedback, "\n"))
	}
	return strings.TrimRight(b.String(), "\n")
}

type file struct {
	name string
	size int
}

func filesIn(dir string) (out []file) {
	if dir == "" {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			rel, _ := filepath.Rel(dir, path)
			if info, err := e.Info(); err == nil {
				out = append(out, file{filepath.ToSlash(rel), int(info.Size())})
			}
		}
		return nil // what cannot be read is not sent either
	})
	return out
}
