package outgoing

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir/policy"
)

// A project that is denied while a run is under way is in no further request: neither the
// agent's for its cases, nor a model's.
func TestDeniedMeanwhile(t *testing.T) {
	w := newWorld(t, func(w *world, d *consent.Decisions) {
		d.Allow(w.at("shop"))
		d.Allow(w.at("secret"))
		d.Allow(w.at("web"), "anthropic")
		for _, kind := range agent.Requests {
			d.Seen = append(d.Seen, consent.Request{Kind: kind, Vendor: "anthropic"})
		}
	})
	back := asks(map[string]string{agent.Replay: "anthropic", agent.Mutate: "anthropic", agent.Mine: "anthropic"})
	if _, _, err := w.Clear(t.Context(), w.db, back, []string{agent.Replay, agent.Mutate}, w.cases); err != nil {
		t.Fatal(err)
	}
	may, err := w.Sessions(t.Context(), w.db, back, []string{agent.Mine}, "plot")
	if err != nil {
		t.Fatal(err)
	}
	list, err := w.db.Sessions(t.Context(), store.SessionFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		may(&list[i])
	}
	sent := func() string {
		e := new(echo)
		for _, id := range []string{"shop", "secret", "web", "own"} {
			_, _ = w.Agent(back.To[agent.Replay], e, nil).Run(t.Context(), eval.Task{Case: &eval.Case{ID: id, Prompt: id}})
		}
		for _, kind := range []string{agent.Mutate, agent.Mine} {
			if _, err := w.Model(kind, back.To[kind], e).Complete(t.Context(), eval.Prompt{User: kind}); err != nil && !strings.Contains(err.Error(), "any more") {
				t.Error(err)
			}
		}
		return strings.Join(e.got, " ")
	}
	change := func(f func(*consent.Decisions)) {
		d, err := consent.Read(w.File)
		if err != nil {
			t.Fatal(err)
		}
		f(d)
		if err := d.Write(w.File); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		f    func(*consent.Decisions)
		want string
	}{
		{func(*consent.Decisions) {}, "shop secret web own mutate mine"},
		{func(d *consent.Decisions) { d.Deny(w.at("elsewhere")) }, "shop secret web own mutate mine"},
		{func(d *consent.Decisions) { d.Deny(w.at("secret")) }, "shop web own"},
		{func(d *consent.Decisions) { d.Allow(w.at("secret")) }, "shop secret web own mutate mine"},
		{func(d *consent.Decisions) { d.Deny(w.at("web")); d.Allow(w.at("web")) }, "shop secret own"},
	} {
		change(c.f)
		if got := sent(); got != c.want {
			t.Errorf("sent %s, want %s", got, c.want)
		}
	}
	if err := os.Remove(w.File); err != nil {
		t.Fatal(err)
	}
	if got := sent(); got != "" {
		t.Errorf("without decisions: sent %s", got)
	}
}

// What a run on this machine alone is given is held, too: by the owner's decisions and by
// the policy, as they are at each request.
func TestDeniedMeanwhileOnThisMachine(t *testing.T) {
	w := newWorld(t, func(w *world, d *consent.Decisions) { d.AllowAll() })
	fixed := new(policy.Policy)
	w.Policy = func() (*policy.Policy, error) { return fixed, nil }
	back := asks(map[string]string{agent.Judge: "anthropic"})
	if _, _, err := w.Clear(t.Context(), w.db, back, []string{agent.Replay, agent.Mutate}, w.cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		f    func(*consent.Decisions) error
		want string
	}{
		{nil, "shop secret own mutate"},
		{func(d *consent.Decisions) error { d.Deny(w.at("secret")); return nil }, "shop own"},
		{func(d *consent.Decisions) error { d.Allow(w.at("secret")); return nil }, "shop secret own mutate"},
		{func(*consent.Decisions) error { fixed.Projects.Deny = []string{w.at("shop")}; return nil }, "secret own"},
	} {
		if c.f != nil {
			if err := consent.Update(w.File, c.f); err != nil {
				t.Fatal(err)
			}
		}
		e := new(echo)
		for _, id := range []string{"shop", "secret", "own"} {
			_, _ = w.Agent(nil, e, nil).Run(t.Context(), eval.Task{Case: &eval.Case{ID: id, Prompt: id}})
		}
		infra := new(eval.InfraError)
		if _, err := w.Model(agent.Mutate, nil, e).Complete(t.Context(), eval.Prompt{User: agent.Mutate}); err != nil && (!errors.As(err, &infra) || infra.Kind != eval.Refused || !strings.Contains(err.Error(), "may not be used any more")) {
			t.Error(err)
		}
		if got := strings.Join(e.got, " "); got != c.want {
			t.Errorf("used %s, want %s", got, c.want)
		}
	}
}

// A policy that changes during a run holds for its next request.
func TestPolicyMeanwhile(t *testing.T) {
	w := newWorld(t, func(w *world, d *consent.Decisions) {
		d.AllowAll()
		d.Seen = []consent.Request{{Kind: agent.Replay, Vendor: "anthropic"}}
	})
	fixed := new(policy.Policy)
	w.Policy = func() (*policy.Policy, error) {
		if fixed == nil {
			return nil, errors.New("it is broken")
		}
		return fixed, nil
	}
	back := asks(map[string]string{agent.Replay: "anthropic"})
	if _, _, err := w.Clear(t.Context(), w.db, back, []string{agent.Replay}, w.cases); err != nil {
		t.Fatal(err)
	}
	try := func() string {
		_, err := w.Agent(back.To[agent.Replay], new(echo), nil).Run(t.Context(), eval.Task{Case: &eval.Case{ID: "shop"}})
		if err == nil {
			return ""
		}
		return err.Error()
	}
	none := []string{}
	for _, c := range []struct {
		p    *policy.Policy
		want string
	}{{&policy.Policy{}, ""}, {&policy.Policy{Vendors: &none}, "it allows no text to go to anthropic"}, {&policy.Policy{Hosts: &none}, "it does not allow the host"}, {nil, "it is broken"}, {&policy.Policy{}, ""}} {
		fixed = c.p
		if got := try(); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// What evolve privacy shows is what holds, under the policy of the machine, too.
func TestOverviewUnderPolicy(t *testing.T) {
	w := newWorld(t, func(w *world, d *consent.Decisions) { d.AllowAll("openai") })
	for _, c := range []struct {
		p    *policy.Policy
		err  error
		want []string
		not  []string
	}{
		{nil, nil, []string{"all may be read\n", "text may go to anthropic, openai", "text of 3 sessions with 12 bytes, in 3 projects; the first request of each kind is shown and asked for"}, []string{"policy"}},
		{&policy.Policy{Vendors: &[]string{"openai"}}, nil, []string{"all may be read\n", "text may go to openai\n", "denied by the machine's policy"}, []string{"go to anthropic"}},
		{func() *policy.Policy { p := new(policy.Policy); p.Projects.Deny = []string{w.at("shop")}; return p }(), nil,
			[]string{"all may be read, as far as the machine's policy allows", w.at("shop") + ": 1 session with 4 bytes, denied by the machine's policy", "secret: 1 session with 4 bytes, text may go to anthropic, openai"}, nil},
		{nil, errors.New("it is broken"), []string{"as far as the machine's policy allows", "denied by the machine's policy"}, []string{"text may go"}},
	} {
		w.Policy = func() (*policy.Policy, error) { return c.p, c.err }
		v, err := w.Overview(t.Context(), w.db, asks(map[string]string{agent.Judge: "anthropic"}).To, "")
		if err != nil {
			t.Fatal(err)
		}
		got := v.String()
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in:\n%s", want, got)
			}
		}
		for _, not := range c.not {
			if strings.Contains(got, not) {
				t.Errorf("%q in:\n%s", not, got)
			}
		}
	}
}
