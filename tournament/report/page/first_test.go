package page

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/report/reporttest"
)

// firstScreens are runs that came to different ends, with what their pages say first.
func firstScreens(t *testing.T) map[string]struct {
	*report.Model
	want []string
} {
	t.Helper()
	out := map[string]struct {
		*report.Model
		want []string
	}{}
	add := func(name string, change func(*report.Model), want ...string) {
		m := reporttest.Model(t, reporttest.Tournament(t, 6, 40))
		n := 0
		for i := range m.Cases { // the made-up pairs are of no cases
			c := &m.Cases[i]
			if c.Origin = record.Mined; c.Split == string(eval.Test) {
				c.Cluster, c.Late = fmt.Sprint("c", n), false
				n++
			}
		}
		m.Verdict.Wins, m.Verdict.Losses, m.Verdict.Ties = 10, 1, 8
		change(m)
		out[name] = struct {
			*report.Model
			want []string
		}{m, want}
	}
	verdict := func(v pareto.Verdict, route string) func(*report.Model) {
		return func(m *report.Model) { m.Verdict.Verdict, m.Verdict.Route = v, route }
	}
	const counts = "On 19 of your past requests: 10 better, 1 worse, 8 the same."
	add("proved", func(m *report.Model) {
		verdict(pareto.Promote, "quality")(m)
		m.Installed = reporttest.Ptr(4)
	}, counts, "Better (at most 5 % luck).", "1 sentence added.", "before (v3)", "after (v4)", "no skill", "“no, sign it”")
	add("cheaper", verdict(pareto.Promote, "cost"), counts, "No worse, and cheaper (at most 5 % luck).")
	add("single", func(m *report.Model) {
		verdict(pareto.Promote, "quality")(m)
		m.Verdict.Single = true
	}, "Better (at most 5 % luck), taken as a single trial.")
	add("promising", verdict(pareto.Promising, ""), counts, "Probably better.")
	add("undecided", verdict(pareto.Undecided, ""), counts, "No difference seen so far.")
	add("worse", func(m *report.Model) {
		verdict(pareto.Reject, "quality")(m)
		m.Verdict.Wins, m.Verdict.Losses = 1, 10
	}, "1 better, 10 worse, 8 the same.", "Worse: it is not used.")
	add("dearer", verdict(pareto.Reject, "cost"), counts, "Worse in cost: it is not used.")
	add("harmful elsewhere", verdict(pareto.Reject, "elsewhere"), counts, "Worse on other requests: it is not used.")
	add("dropped", verdict(pareto.Reject, "dropped"), counts, "No difference seen: it is not used.")
	add("imported", func(m *report.Model) {
		for i := range m.Cases {
			m.Cases[i].Origin = "imported"
		}
	}, "On 19 unseen requests: 10 better")
	add("none", func(m *report.Model) {
		m.Verdict, m.Challenger, m.Diff, m.Lessons, m.Evidence = nil, "", nil, nil, nil
		m.Candidates[5].Role = ""
	}, "None of 5 new texts was better than yours on the 20 requests that the search chose by.", "Your text stays as it is.", "before (v3)")
	add("shorter", func(m *report.Model) {
		verdict(pareto.Undecided, "")(m)
		m.Shorter = &report.Shorter{Untested: 28, Tested: 2}
	}, "30 lines removed, nothing added; no check mentions 28 of them.", "No difference seen so far.")
	add("file", func(m *report.Model) {
		verdict(pareto.Promote, "quality")(m)
		m.Verdict.Share, m.Verdict.Rest = &record.Share{Applies: 30, Rest: 90}, &pareto.RestEvidence{Cases: 24, Holds: true}
	}, "On 19 of your past requests to which the change applies: 10 better", "On 24 of your other requests no harm was seen.")
	add("applies to none", func(m *report.Model) {
		verdict(pareto.Undecided, "")(m)
		m.Verdict.Wins, m.Verdict.Losses, m.Verdict.Ties, m.Verdict.Cases = 0, 0, 0, 0
		m.Verdict.Share = &record.Share{Rest: 90}
		m.Evidence = nil
	}, "The changed rules apply to none of your last 90 requests.")
	add("description", func(m *report.Model) {
		for i := range m.Cases {
			m.Cases[i].Trigger = reporttest.Ptr(true)
		}
	}, "On 19 of your past requests, whether the skill is loaded when it should be: 10 better")
	add("check", func(m *report.Model) { // a trial without a search
		m.Events = slices.DeleteFunc(m.Events, func(s report.Step) bool { return !strings.HasPrefix(s.Kind, "gate") })
		for i := range m.Candidates {
			m.Candidates[i].Metrics = eval.Metrics{}
		}
		m.Candidates, m.Worth, m.Noise, m.Lessons = []report.Candidate{m.Candidates[0], m.Candidates[5]}, nil, nil, nil
	}, counts, "3 lines added, 2 removed")
	add("killed", func(m *report.Model) {
		m.Verdict, m.Status, m.Sentence = nil, string(record.Killed), "The run was killed before a verdict."
	}, "The run was killed before a verdict.")
	untried := func(state record.CandidateState, operator string) func(*report.Model) {
		return func(m *report.Model) {
			d := reporttest.Tournament(t, 6, 40)
			d.Run.Verdict, d.Run.Challenger, d.Challenger, d.Events = nil, "", nil, nil
			c := d.Candidates[1]
			c.Operator, c.State, c.Reason = operator, state, "it sends data out"
			d.Candidates = []record.Candidate{d.Candidates[0], c}
			*m = *reporttest.Model(t, d)
		}
	}
	add("suggested", untried(record.Pooled, record.Suggested), "A text was suggested, and never tried in this run.", "Whether it is better is not known.", "<code>evolve try ", " --unproven</code>")
	add("suggested and held", untried(record.Quarantined, record.Suggested), "A text was suggested, and is held: it sends data out.", "<code>evolve approve ")
	add("held before its check", untried(record.Quarantined, record.Checked), "A text was to be checked, and is held: it sends data out.", "<code>evolve approve ")
	add("suggested for nothing", untried(record.Invalid, record.Suggested), "and may not be used: it sends data out.", "<code>evolve suggest ")
	return out
}

// TestFirstScreens: whatever a run came to, its page says that first.
func TestFirstScreens(t *testing.T) {
	for name, m := range firstScreens(t) {
		page := pageOf(t, Run(m.Model))
		if i := strings.Index(page, `<details class="chapter">`); i > 0 {
			page = page[:i]
		}
		for _, want := range m.want {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the first screen lacks %q:\n%s", name, want, page[strings.Index(page, "<header>"):])
			}
		}
		untried := m.Untried() != nil
		if untried && (strings.Contains(page, "None of") || strings.Contains(page, "No verdict")) {
			t.Errorf("%s: nothing was tried:\n%s", name, page[strings.Index(page, "<header>"):])
		}
		if searched := strings.Contains(pageOf(t, Run(m.Model)), "<h2>The search</h2>"); searched != (name != "check" && !untried) {
			t.Errorf("%s: a search is shown: %v", name, searched)
		}
		if (name == "none" || name == "check" || name == "killed") && strings.Contains(page, "luck") {
			t.Errorf("%s: nothing is proved", name)
		}
	}
}

// TestCountsAgree: the list of requests that changed is what the first screen counts.
func TestCountsAgree(t *testing.T) {
	page := pageOf(t, Run(reporttest.Model(t, reporttest.Sample(t))))
	for _, want := range []string{"On 5 unseen requests: 5 better, 0 worse, 0 the same.", "Better with the new text (5)", "5 unseen requests: 5 better, 0 worse, 0 the same"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestFirstScreensInABrowser photographs them if EVOLVE_SHOTS names a folder.
func TestFirstScreensInABrowser(t *testing.T) {
	if os.Getenv("EVOLVE_SHOTS") == "" {
		t.Skip("EVOLVE_SHOTS names no folder")
	}
	b := newBrowser(t)
	for name, m := range firstScreens(t) {
		file := filepath.Join(t.TempDir(), "page.html")
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := Run(m.Model)(f); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		for _, scheme := range []string{"light", "dark"} {
			for width, size := range map[int64]string{1280: "1280", 390: "390"} {
				b.shape(width, 900, scheme)
				b.open(file)
				for _, s := range append(ask[[]string](b, overlaps), ask[[]string](b, sticking)...) {
					t.Errorf("%s, %s: %s", name, size, s)
				}
				b.shoot("first-" + strings.ReplaceAll(name, " ", "-") + "-" + size + "-" + scheme)
			}
		}
	}
}
