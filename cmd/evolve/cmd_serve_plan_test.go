package main

import (
	"fmt"
	"html"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
)

// TestServeTellsWhatIsPassedBy: the page of a rollback lists the skipped
// versions and the one that comes back, in the terminal's words; if nothing
// is left, the reason.
func TestServeTellsWhatIsPassedBy(t *testing.T) {
	t.Parallel()
	d := serveDemo(t)
	page := func(path string) string { return html.UnescapeString(d.get("/skills/dataviz/" + path)) }
	d.post("/skills/dataviz/promote", form(d.get("/skills/dataviz/promote")), http.StatusOK)
	d.must(os.WriteFile(d.path, []byte(strings.Replace(d.proven, provenLine, "- Name the source.", 1)), 0o644))
	_, err := d.db.Decide(t.Context(), store.Decision{Skill: demoSkill, SHA: skill.HashText([]byte(d.proven)), Word: store.Rejected, By: "you"})
	d.must(err)

	versions, err := d.db.Versions(t.Context(), demoSkill)
	d.must(err)
	back := page("rollback")
	passed := "dataviz: " + fmt.Sprintf("v%d", candidate.VersionIn(versions, skill.HashText([]byte(d.proven))).N) + " was rejected on "
	d.says(back, passed, " by you, and is passed by", "takes the place of", "-- Name the source.")
	d.post("/skills/dataviz/rollback", form(d.get("/skills/dataviz/rollback")), http.StatusOK)
	if d.file() != d.live {
		t.Error("what came back is not what the page has told")
	}
}

// TestServeTellsAllReasons: what promote refuses for several reasons, the page does.
func TestServeTellsAllReasons(t *testing.T) {
	t.Parallel()
	d := serveDemo(t)
	ctx := t.Context()
	sha := skill.HashText([]byte(d.proven))
	d.must(d.db.PinSkill(ctx, demoSkill, skill.HashText([]byte(d.live))))
	_, err := d.db.Decide(ctx, store.Decision{Skill: demoSkill, SHA: sha, Word: store.Rejected, By: "you"})
	d.must(err)
	d.says(html.UnescapeString(d.get("/skills/dataviz/promote?at="+sha)), "is pinned at", "rejected")
	if strings.Contains(d.get("/skills/dataviz/promote?at="+sha), "<form") {
		t.Error("the page has a form for what is refused")
	}
}

// TestServeShowsWhatARunHasSpent: the bill of a run at work is that of its records.
func TestServeShowsWhatARunHasSpent(t *testing.T) {
	t.Parallel()
	d := serveDemo(t)
	id, end := d.running()
	defer end()
	usd := 0.25
	for _, key := range []string{"a", "b"} {
		d.must(d.db.Journal(id).SaveRollout(t.Context(), &eval.Rollout{Key: key, Candidate: "c", CaseID: "k", Status: eval.Done, Usage: &eval.Usage{Input: 10}, CostUSD: &usd}))
	}
	d.event(id, 0, 2, 0.5, "first")
	d.says(d.get("/runs/"+id), "at work", `<dd id="cost">$0.50</dd>`, "time left")
}
