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
	"github.com/skill-evolve/evolve/harvest/codex"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/store"
)

// A session and its subagents are read together or not at all, whichever of them worked in
// a folder that may not be read, and whichever is new.
func TestGateOfFamilies(t *testing.T) {
	g, home := person(t), t.TempDir()
	shop, client := filepath.Join(home, "shop"), filepath.Join(home, "client")
	put := func(path, text string) {
		t.Helper()
		path = filepath.Join(home, path)
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
	said := func(session, agent, cwd, text string) string {
		side := ""
		if agent != "" {
			side = `"isSidechain":true,"agentId":"` + agent + `",`
		}
		return fmt.Sprintf(`{%s"type":"user","message":{"role":"user","content":"%s"},"uuid":"u%s","timestamp":"2026-11-20T18:00:00.000Z","cwd":"%s","sessionId":"%s"}`+"\n", side, text, agent, cwd, session)
	}
	spawned := func(id, parent, cwd string) {
		source := `"cli"`
		if parent != "" {
			source = `{"subagent":{"thread_spawn":{"parent_thread_id":"` + parent + `"}}}`
		}
		put("sessions/2026/11/20/rollout-"+id+".jsonl", fmt.Sprintf(`{"timestamp":"2026-11-20T18:00:00.000Z","type":"session_meta","payload":{"id":"%s","cwd":"%s","source":%s}}`+"\n"+
			`{"timestamp":"2026-11-20T18:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}],"internal_chat_message_metadata_passthrough":{"turn_id":"t","content_item_kinds":["user.text"]}}}`+"\n", id, cwd, source))
	}
	owner := new(consent.Decisions)
	owner.Allow(shop)
	notRead := 0
	harvested := func(want ...string) []harvest.Session {
		t.Helper()
		g.Gate = &consent.Gate{Decisions: []*consent.Decisions{owner}}
		o := harvest.Options{Allowed: g.Gate.Allowed}
		r, err := g.Harvest(t.Context(), []Source{{claude.Kind.Source(home, o), home}, {codex.Kind.Source(home, o), home}}, false, func() {})
		if err != nil {
			t.Fatal(err)
		}
		notRead = r.NotRead
		all, err := g.Store.Sessions(t.Context(), store.SessionFilter{})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, s := range all {
			ids = append(ids, s.ID)
		}
		slices.Sort(ids)
		if slices.Sort(want); !slices.Equal(ids, want) {
			t.Errorf("stored %q, want %q", ids, want)
		}
		return all
	}
	// "a" has a subagent in the client's folder, "b" is in it and has one elsewhere, "c" an
	// old one, "d" one in its own folder; "f" is spawned by "e", and "g" by that.
	put("projects/p/a.jsonl", said("a", "", shop, "hello"))
	put("projects/p/a/subagents/agent-1.jsonl", said("a", "1", client, "hello"))
	put("projects/p/b.jsonl", said("b", "", client, "hello"))
	put("projects/p/b/subagents/deep/agent-2.jsonl", said("b", "2", shop, "hello"))
	put("projects/p/c.jsonl", said("c", "", shop, "hello"))
	put("projects/p/agent-3.jsonl", said("c", "3", client, "hello"))
	put("projects/p/d.jsonl", said("d", "", shop, "hello"))
	put("projects/p/d/subagents/agent-4.jsonl", said("d", "4", filepath.Join(shop, "src"), "hello"))
	spawned("e", "", shop)
	spawned("f", "e", shop)
	harvested("d", "d/4", "e", "f")
	spawned("g", "f", client) // later
	put("projects/p/d/subagents/agent-5.jsonl", said("d", "5", client, "hello"))
	if harvested("d", "d/4", "e", "f"); notRead != 2 {
		t.Errorf("%d sessions are new and were not read, want those two", notRead)
	}
	put("projects/p/d.jsonl", said("d", "", shop, "hello")+said("d", "", shop, "what the subagent said"))
	for _, s := range harvested("d", "d/4", "e", "f") {
		if s.ID == "d" && len(s.Turns) != 1 {
			t.Errorf("the session of a subagent that may not be read was read again: %+v", s)
		}
	}

	// What is decided is decided for all, and each knows the folders of the others: text of
	// "e" is the client's, too.
	owner.Allow(client)
	for _, s := range harvested("a", "a/1", "b", "b/2", "c", "c/3", "d", "d/4", "d/5", "e", "f", "g") {
		if !slices.Contains(s.WorkedIn(), client) || !slices.Contains(s.WorkedIn(), shop) {
			t.Errorf("%s worked in %q", s.ID, s.WorkedIn())
		}
	}
	owner.Deny(client)
	survey := &Survey{Survey: consent.Survey{Decisions: owner}}
	spawned("h", "g", client)
	src := codex.Kind.Source(home, harvest.Options{Allowed: survey.Allowed})
	if err := Unread(t.Context(), g.Store, survey, []Source{{src, home}}, func() {}); err != nil {
		t.Fatal(err)
	}
	if got := survey.Projects(); len(got) != 1 || got[0].Sessions != 1 {
		t.Errorf("surveyed %+v", got)
	}
}
