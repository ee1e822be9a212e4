package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/advice"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

// proved puts a text before the gate against an incumbent, which decides for it.
func (r *roaming) proved(text, against []byte, change ...func(*record.TrialRecord)) string {
	r.t.Helper()
	sha, base := skill.HashText(text), skill.HashText(against)
	id := "run-" + sha[:6]
	j := r.db.Journal(id)
	t := &record.TrialRecord{Skill: "tagger", Incumbent: base, Challenger: sha, Run: id, Decision: pareto.Promote, State: []byte(`{"version":1}`), Updated: day1}
	for _, f := range change {
		f(t)
	}
	run := &record.Run{ID: id, Skill: "tagger", Status: record.Finished, Incumbent: base, Challenger: sha, Simulated: t.Simulated, Config: []byte(`{"schema":1}`), Started: day1, Ended: day1}
	c := &record.Candidate{SHA: sha, Run: id, Seq: 1, Parents: []string{base}, Operator: "reflect", State: record.Pooled, Text: text}
	for _, err := range []error{j.SaveRun(r.t.Context(), run), j.SaveCandidate(r.t.Context(), c), j.SaveTrial(r.t.Context(), t)} {
		if err != nil {
			r.t.Fatal(err)
		}
	}
	return sha[:12]
}

func simulatedTrial(t *record.TrialRecord) { t.Simulated = true }

func (r *roaming) promote(at string) error {
	return promoteSkill(r.t.Context(), r.a, "tagger"+at, promoteFlags{})
}

// TestPromoteTellsAllReasonsAtOnce: who mends one does not hear of the next
// afterwards.
func TestPromoteTellsAllReasonsAtOnce(t *testing.T) {
	r := newRoaming(t)
	other := append(bytes.Clone(r.v0), "Older.\n"...)
	worse := bytes.ReplaceAll(r.v1, []byte("Never guess."), []byte("Guess."))
	at := r.proved(worse, other, simulatedTrial, func(t *record.TrialRecord) { t.Decision = pareto.Undecided })
	if err := r.db.PinSkill(t.Context(), "tagger", skill.HashText(r.v0)); err != nil {
		t.Fatal(err)
	}
	err := r.promote("@" + at)
	_, hint := advice.Of(err)
	if code := r.a.fail(err); code != exitRefused {
		t.Errorf("exit code %d, want %d", code, exitRefused)
	}
	for _, want := range []string{"pinned at v0", "is simulated", "against another text", "locked lines differ", "not shown to be better (no difference seen)"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want it to say %q", err, want)
		}
	}
	for _, want := range []string{"pin --off tagger", "real --agent", "--force", "--unproven"} {
		if !strings.Contains(hint, want) {
			t.Errorf("hint %q, want it to name %q", hint, want)
		}
	}
	if strings.Count(err.Error(), "\n") > 0 {
		t.Errorf("several lines: %q", err)
	}
	r.holds("claude", r.v0)
}

// TestWhatIsOfferedWorks: log and status offer a promotion if promote does
// it, and otherwise give the reason.
func TestWhatIsOfferedWorks(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(r *roaming) (at string)
		want string // what log says instead of an offer
	}{
		"proved":    {func(r *roaming) string { return r.proved(r.v1, r.v0) }, ""},
		"simulated": {func(r *roaming) string { return r.proved(r.v1, r.v0, simulatedTrial) }, "better (at most 5 % luck), SIMULATED"},
		"of an older incumbent": {func(r *roaming) string {
			at := r.proved(r.v1, r.v0)
			r.write("claude", bytes.Replace(r.v0, []byte("Tag them."), []byte("Tag them all."), 1)) // it overlaps
			in := installerOf(r.a, r.db)
			if err := in.RecordEdit(r.t.Context(), r.live()); err != nil {
				r.t.Fatal(err)
			}
			return at
		}, "better (at most 5 % luck), closed: your"},
		"pinned": {func(r *roaming) string {
			at := r.proved(r.v1, r.v0)
			if err := r.db.PinSkill(r.t.Context(), "tagger", skill.HashText(r.v0)); err != nil {
				r.t.Fatal(err)
			}
			return at
		}, "pinned at v0"},
		"of another kernel": {func(r *roaming) string {
			return r.proved(bytes.ReplaceAll(r.v1, []byte("Never guess."), []byte("Guess.")), r.v0)
		}, "the locked lines differ"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoaming(t)
			at := c.set(r)
			log := r.printed("log", "tagger")
			status := r.printed("status")
			offered := "`evolve promote tagger`"
			if got := strings.Contains(log, offered); got != (c.want == "") {
				t.Errorf("log offers it: %v\n%s", got, log)
			}
			if got := strings.Contains(status, offered); got != (c.want == "") {
				t.Errorf("status offers it: %v\n%s", got, status)
			}
			if !strings.Contains(log, c.want) {
				t.Errorf("log has no %q:\n%s", c.want, log)
			}
			if json := r.printed("status", "--json"); strings.Contains(json, "evolve promote") != (c.want == "") {
				t.Errorf("status --json:\n%s", json)
			}
			if err := r.promote("@" + at); (err == nil) != (c.want == "") {
				t.Errorf("promote: %v", err)
			}
		})
	}
}

// TestSecondProvedIsOfferedByItsName: promote alone takes the newest.
func TestSecondProvedIsOfferedByItsName(t *testing.T) {
	r := newRoaming(t)
	older := r.proved(append(bytes.Clone(r.v0), "\nSort them.\n"...), r.v0, func(t *record.TrialRecord) { t.Updated = day1.Add(-1) })
	r.proved(r.v1, r.v0)
	log := r.printed("log", "tagger")
	for _, want := range []string{"`evolve promote tagger`", fmt.Sprintf("`evolve promote tagger@%s`", older)} {
		if !strings.Contains(log, want) {
			t.Errorf("log offers no %s:\n%s", want, log)
		}
	}
}

// TestTakenBackIsNotOffered: a text that was installed and rolled back no
// longer waits.
func TestTakenBackIsNotOffered(t *testing.T) {
	r := newRoaming(t)
	r.proved(r.v1, r.v0)
	if err := r.promote(""); err != nil {
		t.Fatal(err)
	}
	if err := rollbackLive(t.Context(), r.a, "tagger"); err != nil {
		t.Fatal(err)
	}
	if json := r.printed("status", "--json"); strings.Contains(json, "evolve promote") {
		t.Errorf("status offers what was taken back:\n%s", json)
	}
}

// TestTextInstalledAgain: a text that was rolled back and comes again becomes
// a new version if another one came in between; the log still shows that the
// old one was rolled back, and that both are one text.
func TestTextInstalledAgain(t *testing.T) {
	r := newRoaming(t)
	other := append(bytes.Clone(r.v0), "\nSort them.\n"...)
	r.install(r.v1)
	if err := rollbackLive(t.Context(), r.a, "tagger"); err != nil {
		t.Fatal(err)
	}
	r.install(other)
	if err := rollbackLive(t.Context(), r.a, "tagger"); err != nil {
		t.Fatal(err)
	}
	r.install(r.v1)
	log := r.printed("log", "tagger")
	for _, want := range []string{"v3  " + skill.HashText(r.v1)[:12], "live, better, the text of v1", "again as v3"} {
		if !strings.Contains(log, want) {
			t.Errorf("log has no %q:\n%s", want, log)
		}
	}
	if n := strings.Count(log, "rolled back"); n != 2 {
		t.Errorf("%d versions are marked as rolled back, want v1 and v2:\n%s", n, log)
	}
}

// printed is what a command prints for its owner.
func (r *roaming) printed(args ...string) string {
	r.t.Helper()
	var out, errs bytes.Buffer
	if code := run(r.t.Context(), machine{}, args, strings.NewReader(""), &out, &errs); code != exitDone {
		r.t.Fatalf("evolve %q: exit %d\n%s", args, code, &errs)
	}
	return out.String()
}

// TestForcedOverAnEdit: evidence about an older text proves nothing about one
// that replaces its owner's edit, and the edit was replaced only because its
// owner forced it.
func TestForcedOverAnEdit(t *testing.T) {
	r := newRoaming(t)
	at := r.proved(r.v1, r.v0)
	run, err := r.db.Run(t.Context(), "run-"+at[:6])
	if err != nil {
		t.Fatal(err)
	}
	run.Verdict = []byte(`{"decision":"promote","e_value":33.3}`)
	if err := r.db.Journal(run.ID).SaveRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	edit := bytes.Replace(r.v0, []byte("Tag them."), []byte("Tag them. Mine alone."), 1) // where the challenger changed it
	r.write("claude", edit)
	if err := r.promote("@" + at); err == nil {
		t.Fatal("installed over an edit")
	}
	if err := promoteSkill(t.Context(), r.a, "tagger@"+at, promoteFlags{force: true}); err != nil {
		t.Fatal(err)
	}
	r.holds("claude", r.v1)
	v, err := r.db.VersionBySHA(t.Context(), "tagger", skill.HashText(r.v1))
	if err != nil {
		t.Fatal(err)
	}
	if v.Proven || len(v.Evidence) > 0 || v.Parent != skill.HashText(r.v0) || v.Note != "by --force: its evidence is against v0, and v1, your text, was live" {
		t.Errorf("v%d proven %v, evidence %s, from %.12s, %q", v.N, v.Proven, v.Evidence, v.Parent, v.Note)
	}
	if kept, err := r.db.Version(t.Context(), "tagger", 1); err != nil || string(kept.Text) != string(edit) {
		t.Errorf("her edit is not kept: %v", err)
	}
	if log := r.printed("log", "tagger"); !strings.Contains(log, "live, NOT shown better") || !strings.Contains(log, "by --force: its evidence is against v0") || strings.Contains(log, "33.3") {
		t.Errorf("log:\n%s", log)
	}
	if why := r.printed("show", "tagger", "--why"); strings.Contains(why, "Mine") {
		t.Errorf("show --why:\n%s", why)
	}
	if err := rollbackSkill(t.Context(), r.a, "tagger", rollbackFlags{}); err != nil {
		t.Fatal(err)
	}
	r.holds("claude", edit)
}
