package purge

import (
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"github.com/skill-evolve/evolve/store/datadir"
)

// runPage is the file name of a run's report.
var runPage = lazyregexp.New(`^[0-9]{8}-[0-9]{6}-[0-9a-f]+$`)

// pages removes the reports that show one of the purged cases, or a text that learned
// from them. Reports of runs are then made anew without it; a comparison has to be
// repeated for a new one.
func (w *sweep) pages() error {
	for _, path := range inside(w.home.Reports(), "*.html") {
		name := strings.TrimSuffix(filepath.Base(path), ".html")
		if !slices.Contains(w.plan.Runs, name) && !w.told(name, path) {
			continue
		}
		if runPage.MatchString(name) {
			if err := os.Remove(path); err != nil {
				return err
			}
			w.reports = append(w.reports, name)
			continue
		}
		if err := w.remove(path); err != nil {
			return err
		}
	}
	return nil
}

// told reports whether a page names a purged case, as every page names each case that
// it shows, or compares a text that learned from one.
func (w *sweep) told(name, path string) bool {
	for _, sha := range slices.Concat(w.plan.Candidates, w.plan.Removed) {
		if strings.HasPrefix(name, "compare-") && strings.Contains(name, datadir.TextName(sha)) {
			return true
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return true // what cannot be read may contain it
	}
	page := html.UnescapeString(string(raw))
	return slices.ContainsFunc(w.plan.CaseIDs, func(id string) bool {
		return strings.Contains(page, "<code>"+plain.Text(id)+"</code>")
	})
}
