package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/claude"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/store"
)

// A transcript is one session of Claude Code that works in these folders, one a message.
func transcript(t *testing.T, home, id string, folders ...string) {
	t.Helper()
	text := ""
	for i, cwd := range folders {
		text += fmt.Sprintf(`{"type":"user","message":{"role":"user","content":"message %d"},"uuid":"%s-%d","timestamp":"2026-11-20T18:00:0%d.000Z","cwd":"%s","sessionId":"%s"}`+"\n", i, id, i, i, cwd, id)
	}
	path := filepath.Join(home, "projects", "p", id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

// TestGate: what may not be read is not stored, is not read again while nothing changes,
// and is read once it may.
func TestGate(t *testing.T) {
	g, home := person(t), t.TempDir()
	shop, client, blog := filepath.Join(home, "shop"), filepath.Join(home, "client"), filepath.Join(home, "blog")
	transcript(t, home, "a", shop)
	transcript(t, home, "b", shop, client, shop)
	transcript(t, home, "c", blog)
	transcript(t, home, "d", "")
	owner := new(consent.Decisions)
	var looked, waiting int // sessions that the gate was asked about, and that wait for a decision
	harvested := func(wantLooks int, want ...string) *Report {
		t.Helper()
		g.Gate, looked = &consent.Gate{Decisions: []*consent.Decisions{owner}}, 0
		src := claude.Kind.Source(home, harvest.Options{Allowed: func(f []string) bool { looked++; return g.Gate.Allowed(f) }})
		r, err := g.Harvest(t.Context(), []Source{{src, home}}, false, func() {})
		if err != nil {
			t.Fatal(err)
		}
		all, err := g.Store.Sessions(t.Context(), store.SessionFilter{})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, s := range all {
			ids = append(ids, s.ID)
		}
		n, err := Waiting(t.Context(), g.Store, g.Gate)
		if err != nil {
			t.Fatal(err)
		}
		waiting = n
		if slices.Sort(ids); !slices.Equal(ids, want) || looked != wantLooks {
			t.Errorf("stored %q, want %q; looked at %d sessions, want %d", ids, want, looked, wantLooks)
		}
		return r
	}
	owner.Allow(shop)
	owner.Deny(client)
	if r := harvested(4, "a"); r.NotRead != 2 || r.NewProjects != 2 || r.Sessions != 1 { // b is denied, not new
		t.Errorf("%+v", r)
	}
	if r := harvested(0, "a"); r.NotRead != 0 || waiting != 2 {
		t.Errorf("idle: %+v, %d wait", r, waiting)
	}
	owner.Allow(blog)
	harvested(3, "a", "c")
	harvested(0, "a", "c")
	owner.AllowAll()
	harvested(2, "a", "c", "d")
	transcript(t, home, "a", shop, shop, client) // it moved there
	harvested(1, "a", "c", "d")
	owner.Deny(blog)
	owner.Allow(client)
	harvested(2, "a", "b", "c", "d") // a whole: it was refused
	s, err := g.Store.Sessions(t.Context(), store.SessionFilter{ID: "a"})
	if err != nil || len(s) != 1 || !slices.Equal(s[0].Folders, []string{shop, client}) || len(s[0].Turns) != 3 {
		t.Errorf("%+v, %v", s, err)
	}

	// The survey counts what is neither stored nor purged.
	if _, err := g.Store.PurgeSessions(t.Context(), []string{"c"}); err != nil {
		t.Fatal(err)
	}
	transcript(t, home, "e", filepath.Join(shop, "src"))
	survey := &Survey{Survey: consent.Survey{Decisions: owner}}
	src := claude.Kind.Source(home, harvest.Options{Allowed: survey.Allowed})
	if err := Unread(t.Context(), g.Store, survey, []Source{{src, home}}, func() {}); err != nil {
		t.Fatal(err)
	}
	if got := survey.Projects(); len(got) != 1 || got[0].Folder != owner.Project(filepath.Join(shop, "src")) || got[0].Sessions != 1 {
		t.Errorf("surveyed %+v", got)
	}
}

// What hooks noted of a session that may not be read is not told.
func TestGateOfTheBus(t *testing.T) {
	g := person(t)
	event := func(id string) harvest.Event {
		return harvest.Event{ID: id, Skill: harvest.EventSkill{Name: "dataviz"}, Source: harvest.EventSource{Agent: "claude-code", Signal: harvest.SkillToolUse}}
	}
	for _, r := range []hook.Record{{Key: "1", Session: "shop", CWD: "/shop", Event: event("1")}, {Key: "2", Session: "moved", CWD: "/shop", Event: event("2")},
		{Key: "3", Session: "moved", CWD: "/client", Event: event("3")}, {Key: "4", Session: "old", Event: event("4")}} {
		if _, err := hook.Append(string(g.Dir), r); err != nil {
			t.Fatal(err)
		}
	}
	told := func() (ids []string) {
		all, err := g.Events(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			ids = append(ids, e.Session)
		}
		return ids
	}
	owner := new(consent.Decisions)
	owner.Allow("/shop")
	if got := told(); len(got) != 3 {
		t.Errorf("without a gate: %q", got)
	}
	if g.Gate = (&consent.Gate{Decisions: []*consent.Decisions{owner}}); !slices.Equal(told(), []string{"shop"}) {
		t.Errorf("told %q", told())
	}
	owner.AllowAll()
	owner.Deny("/client")
	if !slices.Equal(told(), []string{"old", "shop"}) {
		t.Errorf("told %q", told())
	}
}

// Events of a stored session that may not be read are not listed.
func TestGateOfStoredEvents(t *testing.T) {
	g := person(t)
	for _, name := range []string{"shop", "client"} {
		s := &harvest.Session{ID: name, Agent: "claude-code", Path: name, CWD: "/" + name, Turns: []harvest.Turn{{ID: "1"}},
			Invocations: []harvest.Invocation{{ID: "i", Skill: "dataviz", Signal: harvest.SkillToolUse}}}
		if err := g.Store.SaveSession(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	owner := new(consent.Decisions)
	owner.AllowAll()
	owner.Deny("/client")
	g.Gate = &consent.Gate{Decisions: []*consent.Decisions{owner}}
	if all, err := g.Events(t.Context(), ""); err != nil || len(all) != 1 || all[0].Session != "shop" {
		t.Errorf("%+v, %v", all, err)
	}
}
