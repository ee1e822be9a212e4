package release

import (
	"bytes"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
)

func init() { skill.Register(skill.Agent{Name: "codex", HomeDefault: ".codex"}) }

// TestFingerprint: two plans have the same one as long as they put the same text in the
// place of the same texts, and planning changes no file.
func TestFingerprint(t *testing.T) {
	s := newSite(t)
	s.proved(s.v1, s.v0)
	targets, err := s.in.Layout.Targets("", []string{"claude", "codex"})
	if err != nil {
		t.Fatal(err)
	}
	plan := func() string {
		t.Helper()
		p, err := s.in.PlanPromotion(t.Context(), s.live(), Request{To: targets})
		if err != nil {
			t.Fatal(err)
		}
		return p.Fingerprint()
	}
	first := plan()
	if plan() != first {
		t.Error("the same plan has another fingerprint")
	}
	s.holds("claude", s.v0)
	s.write("codex", s.v0)
	second := plan()
	if second == first {
		t.Error("a copy in a target goes unnoticed")
	}
	s.write("codex", append(bytes.Clone(s.v0), "Mine.\n"...))
	if third := plan(); third == first || third == second {
		t.Error("an edit in a target goes unnoticed")
	}
}

// TestNextEndsWhatACrashHasLeft: the same operation once more ends it, whatever else it
// would plan; nothing is planned as the rest of another text.
func TestNextEndsWhatACrashHasLeft(t *testing.T) {
	s := newSite(t)
	s.proved(s.v1, s.v0)
	_, _, err := s.in.Store.BeginVersion(t.Context(), s.offer, []store.Intent{
		{Install: store.Install{Skill: "tagger", Path: s.path("claude"), From: s.offer.Parent, To: s.offer.SHA, Op: store.OpPromote}}})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := s.in.PlanRest(t.Context(), s.live(), store.OpPromote, Request{At: "v0"}); p != nil || err != nil {
		t.Errorf("of another version: %+v, %v", p, err)
	}
	p, err := s.in.Next(t.Context(), s.live(), store.OpPromote, Request{At: s.offer.SHA[:12]})
	if err != nil || !p.Rest {
		t.Fatalf("%+v, %v", p, err)
	}
	if err := s.apply(p, nil); err != nil {
		t.Fatal(err)
	}
	s.holds("claude", s.v1)
	if p, err = s.in.Next(t.Context(), s.live(), store.OpRollback, Request{}); err != nil || p.Rest || p.Version.SHA != skill.HashText(s.v0) {
		t.Errorf("afterwards: %+v, %v", p, err)
	}
}
