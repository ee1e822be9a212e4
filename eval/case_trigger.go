package eval

import (
	"errors"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval/check"
)

// IsTrigger reports whether the case grades only which skill an agent loads. Its
// quality has another meaning, so such cases are never mixed with others.
func (c *Case) IsTrigger() bool { return c.ShouldTrigger != nil }

// SeparateTriggers divides cases into ordinary ones and trigger cases, each in their
// order. A tournament over answers uses the former, one over descriptions the latter.
func SeparateTriggers(cases []Case) (ordinary, triggers []Case) {
	for _, c := range cases {
		if c.IsTrigger() {
			triggers = append(triggers, c)
		} else {
			ordinary = append(ordinary, c)
		}
	}
	return ordinary, triggers
}

// checks are the checks of the case: a trigger case implies one if none is written.
func (c *Case) checks() []Check {
	if len(c.Checks) == 0 && c.IsTrigger() {
		return []Check{{Type: Trigger}}
	}
	return c.Checks
}

// triggerFaults are the faults of the rest of a trigger case.
func (c *Case) triggerFaults() (faults []error) {
	for i := range c.Checks {
		k := &c.Checks[i]
		switch cases := k.Spec().Cases; {
		case !c.IsTrigger() && cases == check.TriggerCases:
			faults = append(faults, fmt.Errorf("checks[%d]: %s: the case does not say should_trigger", i, k.Type))
		case c.IsTrigger() && cases == check.AnswerCases && k.Known():
			fit := append(check.Names(func(s check.Spec) bool { return s.Cases == check.TriggerCases }),
				check.Names(func(s check.Spec) bool { return s.Cases == check.AllCases })...)
			faults = append(faults, fmt.Errorf("checks[%d]: %s: a trigger case asks only which skill is loaded (%s)", i, k.Type, strings.Join(fit, ", ")))
		}
	}
	switch {
	case c.Neighbour == "":
	case !c.IsTrigger():
		faults = append(faults, errors.New("neighbour: the case does not say should_trigger"))
	case *c.ShouldTrigger:
		faults = append(faults, errors.New("neighbour: one skill should be loaded, and should_trigger says it is this one"))
	case c.Neighbour == c.Skill:
		faults = append(faults, errors.New("neighbour: is the skill itself"))
	}
	return faults
}
