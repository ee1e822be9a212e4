package start

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/projects"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/timer"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/mutate/skill"
)

const (
	off           = "off"
	on            = "on"
	defaultBudget = 2 // dollars a night
)

// answers are what flags answer, as far as given says so by the name of the flag.
type answers struct {
	given    map[string]bool
	projects []string
	agent    string
	model    string
	budget   float64
	nights   string
	trials   string
}

// A setup is one run of init: what is set, and what was answered. Nothing is written before
// the last answer.
type setup struct {
	Parts
	*flags
	conf   *backend.Config
	timer  *timer.Timer
	desk   *projects.Desk
	getenv func(string) string

	change func(*consent.Decisions) error // of the projects; nil: none
	chosen string                         // the agent; "": as it is
	spend  *float64                       // nil: as it is
	night  string                         // when nights begin; "": as it is
	try    bool

	sessionsHere int
}

// open are the flags of the questions that are not answered yet.
func (s *setup) open() (names []string) {
	add := func(flag, example string, is bool) {
		if is && !s.given[flag] {
			names = append(names, "--"+flag+" "+example)
		}
	}
	add("projects", "all|none|PATH", s.desk.Undecided())
	add("agent", "NAME", s.conf.Agent == "" && len(s.found()) > 0)
	add("night-budget", "DOLLARS", s.conf.NightMaxCostUSD == nil)
	add("nights", "HH:MM|off", s.conf.NightMaxCostUSD == nil && s.timer == nil)
	add("trial-installs", "on|off", s.given["nights"] && s.nights != off)
	return names
}

// found are the agents whose program is here, those with a key first.
func (s *setup) found() []string { return backend.Found(s.getenv) }

// check refuses flags that cannot be meant, before anything is asked.
func (s *setup) check() (err error) {
	if s.given["projects"] {
		if s.change, err = projectsFlag(s.projects); err != nil {
			return err
		}
	}
	if s.model != "" && !s.given["agent"] && s.conf.Agent == "" {
		return problem.Inputf("name its agent, too: --agent claude --model "+s.model, "--model alone says not whose model it is")
	}
	if s.given["agent"] {
		s.chosen = s.agent
	} else if s.model != "" {
		s.chosen = s.conf.Agent
	}
	if err := s.checkAgent(); err != nil {
		return err
	}
	if s.given["night-budget"] {
		if !eval.IsAmount(s.budget) {
			return problem.Inputf("for example --night-budget 2", "--night-budget is no number of dollars")
		}
		s.spend = &s.budget
	}
	if s.given["nights"] && s.nights != off {
		if _, _, err := timer.ParseTime(s.nights); err != nil {
			return problem.Inputf("for example --nights 03:17, or off", "--nights %q is no time of day", s.nights)
		}
		s.night = s.nights
	}
	if s.trials != on && s.trials != off {
		return problem.Inputf("--trial-installs on, or off", "unknown --trial-installs %q", s.trials)
	}
	s.try = s.trials == on
	if s.given["nights"] && s.nights == off && s.timer != nil {
		return problem.Inputf("`evolve sleep uninstall` takes it away", "nights are installed, at %s", s.timer.At())
	}
	return nil
}

// checkAgent returns an error if evolve has no agent of the chosen name, or it needs a model.
func (s *setup) checkAgent() error {
	k := agent.KindOf(s.chosen)
	switch {
	case s.chosen == "":
		return nil
	case !slices.Contains(agent.Names(), s.chosen):
		hint := "the agents are " + strings.Join(agent.Names(), ", ")
		if near := skill.Nearest(s.chosen, agent.Names()); near != "" {
			hint = "did you mean " + near + "?"
		}
		return problem.Inputf(hint, "unknown agent %q", s.chosen)
	case k.NeedsModel && s.model == "" && (s.chosen != s.conf.Agent || s.conf.Model == ""):
		return problem.Inputf("for example --model gpt-5-mini, or the name that your server lists", "the agent %s needs --model", s.chosen)
	}
	return nil
}

// projectsFlag is what --projects decides.
func projectsFlag(args []string) (func(*consent.Decisions) error, error) {
	switch {
	case slices.Equal(args, []string{"all"}):
		return func(d *consent.Decisions) error { d.AllowAll(); return nil }, nil
	case slices.Equal(args, []string{"none"}):
		return func(*consent.Decisions) error { return nil }, nil
	}
	var folders []string
	for _, arg := range args {
		at, err := filepath.Abs(arg)
		if info, e := os.Stat(at); err != nil || arg == "" || e != nil || !info.IsDir() {
			return nil, problem.Inputf("--projects all, none, or folders", "--projects: %q is no folder", plain.Line(arg))
		}
		folders = append(folders, at)
	}
	if len(folders) == 0 {
		return nil, problem.Inputf("--projects all, none, or folders", "--projects names nothing")
	}
	return func(d *consent.Decisions) error {
		for _, folder := range folders {
			d.Allow(folder)
		}
		return nil
	}, nil
}

// ask asks what is open.
func (s *setup) ask(ctx context.Context) (err error) {
	open := func(flag string) bool {
		return slices.ContainsFunc(s.open(), func(name string) bool { return strings.HasPrefix(name, "--"+flag+" ") })
	}
	if open("projects") {
		if s.change, err = s.desk.Choose(ctx); err != nil {
			return err
		}
	}
	if open("agent") {
		names := s.found()
		err := s.question(fmt.Sprintf("Which agent answers in replays: %s? A model may follow its name. [%s] ", strings.Join(names, ", "), names[0]), names[0], func(answer string) string {
			name, model, _ := strings.Cut(answer, " ")
			if !slices.Contains(names, name) {
				return fmt.Sprintf("%q is none of them.", plain.Line(name))
			}
			s.chosen, s.model = name, strings.TrimSpace(model)
			return ""
		})
		if err != nil {
			return err
		}
	}
	asksNights := open("nights")
	if open("night-budget") {
		err := s.question(fmt.Sprintf("How many dollars, at list price, may a night take at most? [%d] ", defaultBudget), strconv.Itoa(defaultBudget), func(answer string) string {
			v, err := strconv.ParseFloat(strings.TrimPrefix(answer, "$"), 64)
			if err != nil || !eval.IsAmount(v) || v == 0 {
				return fmt.Sprintf("%q is no number of dollars.", plain.Line(answer))
			}
			s.spend = &v
			return ""
		})
		if err != nil {
			return err
		}
	}
	if asksNights {
		err := s.question("When shall a night begin every day: a time such as 03:17, or off? [off] ", off, func(answer string) string {
			if strings.EqualFold(answer, off) {
				return ""
			}
			if _, _, err := timer.ParseTime(answer); err != nil {
				return fmt.Sprintf("%q is no time of day.", plain.Line(answer))
			}
			s.night = answer
			return ""
		})
		if err != nil {
			return err
		}
	}
	if s.night != "" && !s.given["trial-installs"] {
		s.try, err = s.Terminal.Confirm("May a nightly run put a text that is probably better in place, as a trial install, and take it back if it disappoints?")
	}
	return err
}

// question asks until take accepts the answer: it returns what is wrong with one, "" for
// nothing. Who answers nothing takes the default.
func (s *setup) question(words, byDefault string, take func(string) string) error {
	for {
		answer, ok, err := s.Terminal.Ask(words)
		if err != nil {
			return err
		}
		if !ok {
			return context.Canceled // the input has ended
		}
		wrong := take(cmp.Or(strings.TrimSpace(answer), byDefault))
		if wrong == "" {
			return nil
		}
		s.Terminal.Tell("%s", wrong)
	}
}

// defaults answer what is open: nothing is read, nothing is started.
func (s *setup) defaults() error {
	if names := s.found(); s.conf.Agent == "" && s.chosen == "" && len(names) > 0 && agent.KindOf(names[0]).Credential(s.getenv) != "" {
		s.chosen = names[0]
	}
	if s.conf.NightMaxCostUSD == nil && s.spend == nil {
		v := float64(defaultBudget)
		s.spend = &v
	}
	return nil
}

// settings are the answers that config.yaml keeps.
func (s *setup) settings() (out []setting) {
	if s.chosen != "" {
		out = append(out, setting{"agent", quoted(s.chosen), "Which agent answers in replays. It writes edits and judges, too, unless reflect_agent or\njudge_agent names another."})
	}
	if s.model != "" {
		out = append(out, setting{"model", quoted(s.model), "The agent's model."})
	}
	if s.spend != nil {
		out = append(out, setting{"night_max_cost_usd", strconv.FormatFloat(*s.spend, 'f', -1, 64), "Dollars at list price that a night may take at most; 0 is no cap. Where no price is known,\nnight_max_tokens holds: by default the tokens of 40 of your median sessions."})
	}
	return out
}

// nightFlags are those of sleep run.
func (s *setup) nightFlags() (out []string) {
	if s.envFile != "" {
		out = append(out, "--env-file", s.envFile)
	}
	if s.try {
		out = append(out, "--try")
	}
	return out
}
