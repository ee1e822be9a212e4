package record

import (
	"cmp"
	"strings"

	"github.com/skill-evolve/evolve/eval"
)

// A Model is the agent and model that evidence is about. The zero value is an
// unknown model.
type Model struct {
	Agent string `json:"agent"` // the backend
	// Release is the first two numbers of the agent's version: the others
	// change every other day, and each change would invalidate the evidence.
	Release  string `json:"release,omitempty"`
	Asked    string `json:"asked,omitempty"`    // the model's name in the configuration, "" for the agent's own choice
	Reported string `json:"reported,omitempty"` // the model that the agent reports, "" if it reports none
	// Simulated: the evidence is about no real model.
	Simulated bool `json:"simulated,omitempty"`
}

// ModelOf is the agent with this identity, and the model that it reported.
func ModelOf(id eval.Identity, reported string) Model {
	parts := strings.SplitN(id.Version, ".", 3)
	return Model{Agent: id.Backend, Release: strings.Join(parts[:min(2, len(parts))], "."), Asked: id.Model, Reported: reported, Simulated: id.Simulated}
}

// DriftedFrom reports whether m is known to be another model than old, which
// evidence is about. A field that is unknown on either side is no drift, and
// neither is a simulated agent after a real one: it is no evidence about a
// real one.
func (m Model) DriftedFrom(old Model) bool {
	switch {
	case m.Agent == "" || old.Agent == "" || m.Simulated && !old.Simulated:
		return false
	case m.Agent != old.Agent, m.Release != "" && old.Release != "" && m.Release != old.Release:
		return true
	case m.Reported != "" && old.Reported != "":
		return m.Reported != old.Reported
	case same(m.Asked, old.Reported), same(m.Reported, old.Asked):
		return false
	}
	return m.Asked != "" && old.Asked != "" && m.Asked != old.Asked
}

func same(a, b string) bool { return a != "" && a == b }

// Learn fills in fields of the same model that have become known.
func (m Model) Learn(now Model) Model {
	m.Agent, m.Release = cmp.Or(m.Agent, now.Agent), cmp.Or(m.Release, now.Release)
	m.Asked, m.Reported = cmp.Or(m.Asked, now.Asked), cmp.Or(m.Reported, now.Reported)
	m.Simulated = m.Simulated || now.Simulated
	return m
}

// String names the model for people: claude 2.1/claude-sonnet-5.
func (m Model) String() string {
	if m.Agent == "" {
		return "an unknown model"
	}
	s := strings.TrimSpace(m.Agent + " " + m.Release)
	if name := cmp.Or(m.Reported, m.Asked); name != "" {
		s += "/" + name
	}
	return s
}
