package main

import (
	"fmt"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// ofPart are the cases that a change of that part is tried on: trigger cases for a
// description, the others for a harness.
func ofPart(cases []eval.Case, evolves string) []eval.Case {
	ordinary, triggers := eval.SeparateTriggers(cases)
	if evolves == skill.Description {
		return triggers
	}
	return ordinary
}

// others are the skills that are offered beside this one in trigger cases.
func (a *app) others(name string) ([]eval.Offer, error) {
	reg, err := a.registry()
	if err != nil {
		return nil, err
	}
	var out []eval.Offer
	for _, e := range reg.Entries {
		if e.Name == name {
			continue
		}
		text, err := skill.ReadFile(e.Path)
		if err != nil {
			return nil, fmt.Errorf("read skill %s: %w", e.Name, err)
		}
		out = append(out, eval.Offer{Name: e.Name, Dir: e.Dir, SHA: sha256Hex(text)})
	}
	return out, nil
}
