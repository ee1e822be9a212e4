package checkout

import (
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

func TestCount(t *testing.T) {
	of := func(agent string, w *eval.Workspace) eval.Case {
		return eval.Case{Workspace: w, Source: &eval.Source{Agent: agent, Origin: "mined"}}
	}
	there, about := &eval.Workspace{Repo: "r", Commit: "c"}, &eval.Workspace{Repo: "r", Commit: "c", Approximate: true}
	cases := []eval.Case{of("codex", there), of("pi", about), of("pi", nil), of("pi", about), {Workspace: there}}
	if got, want := Count(cases).String(), "4 cases: 1 with their exact commit, 2 approximate, 1 without (codex 1, 0 and 0; pi 0, 2 and 1)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := Count(cases[1:]).String(), "3 cases: 0 with their exact commit, 2 approximate, 1 without"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Count(cases[2:3]); got != nil {
		t.Errorf("%v", got)
	}
}
