package purge

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/probes"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/report/page"
	"github.com/skill-evolve/evolve/tournament/sleep"
	"github.com/skill-evolve/evolve/tournament/status"
)

// TestPurgeRemovesPages: whatever page shows a purged case, or a text that
// learned from it, is gone; the others stay.
func TestPurgeRemovesPages(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "reports")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	const odd = `c+<1>"&'`
	compared := func(id string) func(f *os.File) error {
		c := &report.Comparison{Skill: "tagger", A: report.Arm{Label: "v0", SHA: "a"}, B: report.Arm{Label: "v1", SHA: "b"}}
		k := eval.Case{ID: id, Prompt: "words of it", Checks: []eval.Check{{Type: eval.Contains, Value: "x"}}}
		r := func(sha string) []*eval.Rollout {
			return []*eval.Rollout{{Candidate: sha, CaseID: id, Status: eval.Done}}
		}
		c.Compare([]report.CasePair{{Case: &k, A: r("a"), B: r("b")}}, 0)
		return func(f *os.File) error { return page.Comparison(c)(f) }
	}
	night := func(f *os.File) error {
		return page.Night(&status.Night{Night: &sleep.Night{ID: "20260301-031700-1"}})(f)
	}
	learned := strings.Repeat("5e", 32)
	for name, write := range map[string]func(*os.File) error{
		"20260301-120000-aaaaaa": night, "20260301-120000-bbbbbb": compared("mined-2"), "20260301-120000-cccccc": compared("mined-9"),
		"compare-tagger-aa-bb": compared(odd), "compare-tagger-cc-dd": compared("mined-22"), "compare-tagger-ee-" + learned[:16]: compared("mined-9"),
		"night-20260301-031700-1": night} {
		f, err := os.Create(filepath.Join(dir, name+".html"))
		if err != nil {
			t.Fatal(err)
		}
		if err := write(f); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	w := &sweep{home: datadir.Dir(home), plan: store.PurgeReport{Runs: []string{"20260301-120000-aaaaaa"}, CaseIDs: []string{"mined-2", odd}, Candidates: []string{learned}}}
	if err := w.pages(); err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, p := range inside(dir, "*") {
		left = append(left, strings.TrimSuffix(filepath.Base(p), ".html"))
	}
	if want := []string{"20260301-120000-cccccc", "compare-tagger-cc-dd", "night-20260301-031700-1"}; !slices.Equal(left, want) {
		t.Errorf("%q are left, want %q", left, want)
	}
	slices.Sort(w.reports)
	if want := []string{"20260301-120000-aaaaaa", "20260301-120000-bbbbbb"}; !slices.Equal(w.reports, want) || len(w.removed) != 2 {
		t.Errorf("%q are made anew, want %q; removed %q", w.reports, want, w.removed)
	}
}

// TestPurgeRemovesOutcomesOfProbes: how a removed text answered its kernel's probes is gone, a
// damaged copy of it too; the probes and other outcomes stay.
func TestPurgeRemovesOutcomesOfProbes(t *testing.T) {
	home := datadir.Dir(t.TempDir())
	folder := probes.Folder(home.Probes("tagger"))
	live, gone, kept := strings.Repeat("0a", 32), strings.Repeat("5e", 32), strings.Repeat("77", 32)
	if err := folder.Propose(&probes.Set{Schema: 1, Skill: "tagger"}); err != nil {
		t.Fatal(err)
	}
	for _, o := range []*probes.Outcome{{Incumbent: live, Challenger: gone, By: "m"}, {Incumbent: gone, Challenger: kept, By: "m"}, {Incumbent: live, Challenger: kept, By: "m"}} {
		if err := folder.Save(o); err != nil {
			t.Fatal(err)
		}
	}
	before := inside(string(folder), "*")
	if len(before) != 4 {
		t.Fatalf("there are %q", before)
	}
	damaged := filepath.Join(string(folder), live[:16]+"-"+gone[:16]+"-12345678.json.damaged")
	if err := os.WriteFile(damaged, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &sweep{home: home, plan: store.PurgeReport{Removed: []string{gone}}}
	if err := w.probed(); err != nil {
		t.Fatal(err)
	}
	left := inside(string(folder), "*")
	if len(left) != 2 || filepath.Base(left[1]) != "proposed.json" || !strings.HasPrefix(filepath.Base(left[0]), live[:16]+"-"+kept[:16]) || len(w.removed) != 3 {
		t.Errorf("%q are left, %q removed", left, w.removed)
	}
}
