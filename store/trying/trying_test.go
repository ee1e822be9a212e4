package trying

import (
	"testing"

	"github.com/skill-evolve/evolve/store"
)

func TestAt(t *testing.T) {
	const home = "/home"
	row := func(op, from, to, outcome string) store.Install {
		return store.Install{Path: home, Op: op, From: from, To: to, Outcome: outcome}
	}
	done := func(op, from, to string) store.Install { return row(op, from, to, "installed") }
	for _, c := range []struct {
		name string
		rows []store.Install // the newest first
		live string
		on   bool
	}{
		{"no install", nil, "b", false},
		{"at its owner's word", []store.Install{done(store.OpTry, "a", "b")}, "b", true},
		{"by a night", []store.Install{done(store.OpNightTry, "a", "b")}, "b", true},
		{"promoted", []store.Install{done(store.OpPromote, "a", "b")}, "b", false},
		{"edited since", []store.Install{done(store.OpTry, "a", "b")}, "c", false},
		{"kept", []store.Install{done(store.OpPromote, "b", "b"), done(store.OpTry, "a", "b")}, "b", false},
		{"keeping it was interrupted", []store.Install{row(store.OpPromote, "b", "b", ""), done(store.OpTry, "a", "b")}, "b", false},
		{"taken back", []store.Install{done(store.OpTakeBack, "b", "a"), done(store.OpTry, "a", "b")}, "a", false},
		{"taking back did not happen", []store.Install{row(store.OpTakeBack, "b", "a", ""), done(store.OpTry, "a", "b")}, "b", true},
		{"given up", []store.Install{row(store.OpTry, "a", "b", "abandoned")}, "b", false},
		{"interrupted with the file in place", []store.Install{row(store.OpTry, "a", "b", "")}, "b", true},
		{"interrupted before", []store.Install{row(store.OpTry, "a", "b", "")}, "a", false},
		{"elsewhere", []store.Install{{Path: "/other", Op: store.OpTry, From: "a", To: "b", Outcome: "installed"}}, "b", false},
		{"elsewhere since", []store.Install{{Path: "/other", Op: store.OpPromote, From: "a", To: "b", Outcome: "installed"}, done(store.OpTry, "a", "b")}, "b", true},
	} {
		if on := At(c.rows, home, c.live) != nil; on != c.on {
			t.Errorf("%s: %v", c.name, on)
		}
	}
}
