// Package probing is the command that has probes of a kernel written, shows them, and keeps
// those that the owner approves.
package probing

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/corrections"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/probes"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/campaign/probing"
)

// Parts are what the command works with, opened when it runs.
type Parts struct {
	corrections.Parts
	Now func() time.Time
}

type flags struct {
	backend.Spending
	from    string
	approve bool
}

// Command is `evolve kernel probes`.
func (p Parts) Command() *cobra.Command {
	f := &flags{}
	c := &cobra.Command{
		Use:   "probes SKILL",
		Short: "Requests that tempt an agent to break the locked rules; you approve them once",
		Long: `probes has a model (--reflect-agent, --reflect-model) write requests that tempt an
agent to break each locked rule, with checks that see when it does, in one call after a
forecast. It shows them, and you approve them once; after an edit of the kernel only what
changed is written and asked anew. To change them, edit what --json prints and give it
back with --from.

A new text that its trial found better answers them before a nightly run installs it, and
one that breaks a rule more often than the live text waits for you. Without approved
probes a nightly run installs no text of a skill with locked rules. Nobody who writes
texts is shown them, and they are no evidence that a text is better.`,
		Example: "  evolve kernel probes dataviz\n  evolve kernel probes dataviz --approve\n  evolve kernel probes dataviz --json > probes.json\n  evolve kernel probes dataviz --from probes.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return problem.Inputf("for example `evolve kernel probes dataviz`", "kernel probes needs a skill")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return p.run(c.Context(), f, args[0]) },
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.BoolVar(&f.approve, "approve", false, "approve what was shown, or --from's, without asking")
	fl.StringVar(&f.from, "from", "", "a file of probes, as --json prints them")
	f.Register(fl, "print the forecast and stop")
	return c
}

// A result is what --json prints: schema 1. --from reads it.
type result struct {
	*probes.Set
	Rules []probes.Rule  `json:"rules"`
	Takes *probing.Takes `json:"takes,omitempty"` // of one text that is otherwise proved
	Spent eval.Spent     `json:"spent,omitzero"`
	// Dropped counts the model's probes that cannot be run.
	Dropped int `json:"dropped,omitempty"`
}

func (p Parts) run(ctx context.Context, f *flags, name string) error {
	if err := f.Check(); err != nil {
		return err
	}
	live, err := p.Layout().Live(name)
	if err != nil {
		return err
	}
	ref, r := subject.Parse(live.Name), &result{Rules: probes.Rules(live.Doc)}
	if len(r.Rules) == 0 {
		return problem.Inputf(fmt.Sprintf("`evolve kernel show %s` lists the locked lines", ref.Typed()), "%s has no locked rule that an agent could break", ref.Path())
	}
	runner, err := p.Runner(&f.Spending)
	if err != nil {
		return err
	}
	folder := probing.FolderOf(runner.Dir, live.Name)
	if r.Set, err = p.find(folder, live, r.Rules, f); err != nil {
		return err
	}
	if missing := r.Set.Missing(r.Rules); len(missing) > 0 {
		if f.approve && !f.DryRun {
			return problem.Inputf(fmt.Sprintf("`evolve kernel probes %s` has them written", ref.Typed()), "no probes are written yet of %s of %s", plain.Counted(len(missing), "locked rule"), ref.Path())
		}
		if done, err := p.write(ctx, f, runner, folder, live, missing, r); done || err != nil {
			return err
		}
	}
	if r.Takes, err = probing.TakesOf(ctx, runner, f.Who.Spec(), live, r.Set); err != nil {
		return err
	}
	asked := r.Approved == nil && !f.approve && !f.DryRun
	if asked && !p.Terminal.JSON {
		if err := p.Terminal.Show(r.text()); err != nil {
			return err
		}
		if term.IsTerminal(p.Terminal.Stdin) {
			if f.approve, err = p.Terminal.Confirm(fmt.Sprintf("Approve these %s?", plain.Counted(len(r.Probes), "probe"))); err != nil {
				return err
			}
		}
	}
	if r.Approved == nil && f.approve && !f.DryRun {
		now := p.Now().UTC()
		r.Approved = &now
		if err := folder.Approve(r.Set); err != nil {
			return err
		}
	} else if asked && !p.Terminal.JSON {
		return p.Terminal.Show(fmt.Sprintf("next: `evolve kernel probes %s --approve`, or edit them: --json, --from\n", ref.Typed()))
	}
	if asked && !p.Terminal.JSON {
		return p.Terminal.Show("approved\n")
	}
	return p.Terminal.Print(r, r.text())
}

// maxFile is the largest file of probes that is read, in bytes.
const maxFile = 4 << 20

// find is the set that the owner approved or is to approve: what a file holds, which may lack
// rules, else what was proposed, else what was approved for the rules that are there still.
func (p Parts) find(folder probes.Folder, live *skill.Live, rules []probes.Rule, f *flags) (*probes.Set, error) {
	if from := f.from; from != "" {
		data, err := bounded.ReadFile(from, maxFile)
		if err != nil {
			return nil, problem.Inputf("`evolve kernel probes "+subject.Parse(live.Name).Typed()+" --json` prints one", "read probes: %v", err)
		}
		set := &probes.Set{}
		err = json.Unmarshal(data, set)
		if err == nil {
			err = set.Check(rules)
		}
		if err != nil {
			return nil, problem.Inputf("`evolve kernel probes "+subject.Parse(live.Name).Typed()+" --json` prints what it has to be like", "%s: %v", from, err)
		}
		set = set.For(rules)
		set.Skill, set.Kernel, set.Approved = live.Name, live.Doc.KernelHash(), nil
		if f.DryRun {
			return set, nil
		}
		return set, folder.Propose(set)
	}
	set, err := folder.Approved()
	if err != nil {
		p.Terminal.Say("%v", err)
	}
	waits, err := folder.Proposed()
	if err != nil {
		p.Terminal.Say("%v", err)
	}
	if waits != nil { // a file's, or what was written
		if waits = waits.For(rules); waits.Check(rules) == nil && len(waits.Missing(rules)) < len(rules) {
			return waits, nil
		}
	}
	if set == nil {
		set = &probes.Set{Schema: 1, Skill: live.Name, Kernel: live.Doc.KernelHash(), Probes: []probes.Probe{}, Untested: []probes.Untested{}}
	}
	return set.For(rules), nil
}

// write has the model write what is missing, and keeps the set that is to be approved. done: the
// forecast was all that was wanted.
func (p Parts) write(ctx context.Context, f *flags, runner *campaign.Runner, folder probes.Folder, live *skill.Live, missing []probes.Rule, r *result) (done bool, err error) {
	w, err := probing.Prepare(ctx, runner, f.Who.Spec(), live, missing, f.WallClock)
	defer func() { w.Close() }() // with an error too
	if err != nil {
		return false, err
	}
	if f.DryRun {
		return true, p.Terminal.Print(w.Forecast, w.Forecast.String()+"\n")
	}
	p.Terminal.Say("%s", w.Forecast)
	if err := p.Fund(ctx, &f.Spending, false); err != nil {
		return false, err
	}
	if err := p.Approve(&f.Spending, w.Forecast.CostUSD, w.Forecast.Tokens, "Spend about %s on probes?"); err != nil {
		return false, err
	}
	more, dropped, err := w.Write(ctx, f.Purse.Part())
	if err != nil {
		return false, err
	}
	r.Probes, r.Untested = append(r.Probes, more.Probes...), append(r.Untested, more.Untested...)
	r.Set = r.Set.For(r.Rules)
	r.Writer, r.Kernel, r.Approved, r.Spent, r.Dropped = more.Writer, live.Doc.KernelHash(), nil, f.Purse.Budget.Spent(), dropped
	return false, folder.Propose(r.Set)
}

// text shows the probes by their rules.
func (r *result) text() string {
	var b strings.Builder
	state := "not approved by you"
	if r.Approved != nil {
		state = "approved on " + r.Approved.Local().Format(time.DateOnly)
	}
	fmt.Fprintf(&b, "%s: %s, %s, %s\n", subject.Parse(r.Skill).Path(), plain.Counted(len(r.Rules), "locked rule"), plain.Counted(len(r.Probes), "probe"), state)
	for _, k := range r.Rules {
		fmt.Fprintf(&b, "\n%s\n", plain.Excerpt("line "+fmt.Sprint(k.Line)+": "+strings.TrimSpace(k.Lead+" "+k.Text), 110))
		for _, p := range r.Of(k) {
			fmt.Fprintf(&b, "  “%s”\n", plain.Excerpt(p.Prompt, 100))
			fmt.Fprintf(&b, "    a breach shows: %s\n", plain.Excerpt(words(&p), 90))
		}
		for _, u := range r.Untested {
			if u.Rule.ID == k.ID {
				fmt.Fprintf(&b, "  no probe: %s\n", plain.Excerpt(u.Why, 100))
			}
		}
	}
	b.WriteString("\n")
	if r.Dropped > 0 {
		fmt.Fprintf(&b, "%s that the model wrote cannot be run and were left out\n", plain.Counted(r.Dropped, "probe"))
	}
	if r.Takes != nil {
		fmt.Fprintf(&b, "a new text that its trial found better takes %s (config: probe_max_rollouts)\n", r.Takes)
	}
	return b.String()
}

// words say what a breach shows in: a probe's feedback, else what its checks ask for.
func words(p *probes.Probe) string {
	if p.Feedback != "" {
		return p.Feedback
	}
	var all []string
	for i := range p.Checks {
		all = append(all, p.Checks[i].Criterion())
	}
	return strings.Join(all, "; ")
}
