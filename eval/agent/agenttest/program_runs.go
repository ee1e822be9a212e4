package agenttest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/workspace"
)

func programSuccess(st *stage) {
	if id := st.agent.Identity(); id.Backend == "" || id.Version == "" || id != st.agent.Identity() {
		st.Errorf("identity %+v: want a backend and a version, and the same each time", id)
	} else if strings.Contains(id.Params, Key) {
		st.Error("the identity holds the key")
	}
	r := st.good(variant(st.T), plainCase(fileChecks...))
	if !slices.Equal(r.Files, []string{written}) {
		st.Errorf("files = %q, want %q", r.Files, written)
	}
	if len(r.Trace) == 0 || r.Trace[0].Failed {
		st.Errorf("trace = %+v, want the call that wrote the file", r.Trace)
	}
	if r.Retries != 0 || r.Turns != 2 {
		st.Errorf("retries %v, turns %d; want 0 and 2", r.Retries, r.Turns)
	}
	want := eval.Usage{Input: 40, CacheRead: 200, Output: 14}
	if u := r.Usage; u == nil || u.Input < want.Input || u.CacheRead < want.CacheRead || u.Output < want.Output {
		st.Errorf("usage = %+v, want %+v over both turns", u, want)
	}
	if r.Audit == eval.Tainted || r.Audit == "" {
		st.Errorf("audit = %q, want a verdict that is not tainted", r.Audit)
	}
	if st.live() {
		all := st.server.Requests()
		if !among(all, "Names stones.") {
			st.Error("the candidate's description did not reach the model")
		}
		if among(all, personal) || among(all, "Feldspar of the person") {
			st.Error("the person's own copy of the skill reached the model")
		}
	}
}

func programSkillUsed(st *stage) {
	r := st.good(variant(st.T), plainCase(fileChecks...))
	if r.SkillInvoked == nil || !*r.SkillInvoked || !slices.Equal(r.Skills, []string{"stones"}) {
		st.Errorf("skills = %q, invoked %s; want the candidate", r.Skills, compact(r.SkillInvoked))
	}
	if r.Audit == eval.Tainted {
		st.Errorf("reading the candidate is called a leak")
	}
	if st.live() {
		all := st.server.Requests()
		if !among(all, sentinel) {
			st.Error("the candidate's text did not reach the model")
		}
		if among(all, personal) {
			st.Error("the person's own text reached the model")
		}
	}
}

func programNoSkill(st *stage) {
	r := st.good(eval.Variant{Name: "stones"}, plainCase())
	if r.SkillInvoked != nil && *r.SkillInvoked || len(r.Skills) > 0 {
		st.Errorf("skills = %q, invoked %s; there was none", r.Skills, compact(r.SkillInvoked))
	}
	all := st.server.Requests()
	for _, text := range []string{sentinel, "Names stones.", personal, "Feldspar of the person"} {
		if among(all, text) {
			st.Errorf("without a skill %q reached the model", text)
		}
	}
}

func programConversation(st *stage) {
	c := plainCase()
	c.Context = []eval.Message{{Role: "user", Text: "earlier-question"}, {Role: "assistant", Text: "earlier-answer"}}
	dir := filepath.Join(st.temp, "evolve-case-1")
	writeFile(st.T, filepath.Join(dir, "data", "stones.csv"), c.Files["data/stones.csv"])
	defer os.RemoveAll(dir)
	a, err := st.agent.Run(st.Context(), eval.Task{Variant: variant(st.T), Case: c, Workspace: dir, Seed: 7,
		Prior: &eval.Prior{Answer: "failed-answer", Feedback: []string{"what-was-wrong"}}})
	if err != nil {
		st.Fatal(err)
	}
	if a.Failure != "" || !strings.Contains(a.Answer, good.Text) || len(a.Files) > 0 {
		st.Errorf("attempt = %+v, want an answer and no changed file", a)
	}
	if !st.live() {
		return
	}
	asked := st.server.Counted()
	text := asked[len(asked)-1].Text
	for _, part := range []string{"earlier-question", "earlier-answer", c.Prompt, "failed-answer", "what-was-wrong"} {
		if !strings.Contains(text, part) {
			st.Errorf("%q did not reach the model", part)
		}
	}
	if q, a := strings.Index(text, "earlier-question"), strings.Index(text, "earlier-answer"); q > a {
		st.Error("the conversation is out of order")
	}
}

// The tool fails, and is called again: something that the user would notice.
func programReissued(st *stage) {
	r := st.good(variant(st.T), plainCase())
	if len(r.Trace) < 2 || !r.Trace[0].Failed || r.Trace[len(r.Trace)-1].Failed {
		st.Errorf("trace = %+v, want a failed call and a good one", r.Trace)
	}
	if r.Retries != 1 {
		st.Errorf("retries = %v, want 1", r.Retries)
	}
}

func programTrigger(st *stage) {
	dir := filepath.Join(st.dir, "gems")
	writeFile(st.T, filepath.Join(dir, "SKILL.md"),
		"---\nname: gems\ndescription: Names gems that are cut.\n---\n# Gems\n\nSentinel: say beryllium.\n")
	no := false
	c := plainCase()
	c.ShouldTrigger, c.Neighbour = &no, "gems"
	c.Prompt = "What is a brilliant cut?"
	space, err := (&workspace.Recorded{Parent: st.temp}).Open(st.Context(), c)
	if err != nil {
		st.Fatal(err)
	}
	defer space.Close()
	a, err := st.agent.Run(st.Context(), eval.Task{Variant: variant(st.T), Case: c, Workspace: space.Dir, Before: space.Before, Seed: 7,
		Others: []eval.Offer{{Name: "gems", Dir: dir}}})
	if err != nil {
		st.Fatal(err)
	}
	if a.SkillInvoked == nil || *a.SkillInvoked || !slices.Equal(a.Skills, []string{"gems"}) {
		st.Errorf("skills = %q, invoked %s; want the neighbour alone", a.Skills, compact(a.SkillInvoked))
	}
	if a.Audit == eval.Tainted {
		st.Errorf("reading the neighbour is called a leak: %s", a.Tainted)
	}
	if st.live() {
		first := st.server.Counted()[:1]
		for _, text := range []string{"Names stones.", "Names gems that are cut."} {
			if !among(first, text) {
				st.Errorf("%q was not offered", text)
			}
		}
		if among(first, sentinel) || among(first, "beryllium") {
			st.Error("a skill was forced, not offered")
		}
		if !among(st.server.Counted(), "beryllium") {
			st.Error("the neighbour's text did not reach the model")
		}
	}
}
