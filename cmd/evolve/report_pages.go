package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/report/page"
	"github.com/skill-evolve/evolve/tournament/status"
)

// writePage writes a page into the data folder's reports, readable by its
// owner alone, and returns its path.
func writePage(a *global, name string, write func(io.Writer) error) (string, error) {
	h, err := a.home()
	if err != nil {
		return "", err
	}
	dir := h.Reports()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("write report: %w", err)
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return "", err
	}
	path := filepath.Join(dir, name+".html")
	if err := renameio.WriteFile(path, b.Bytes(), fileMode); err != nil {
		return "", fmt.Errorf("write report: %w", err)
	}
	return path, nil
}

// writeReport renders a run's report into the data folder and returns its path.
func writeReport(ctx context.Context, a *global, db *store.Store, run string) (string, error) {
	rd, err := a.reader(db)
	if err != nil {
		return "", err
	}
	m, err := rd.RunReport(ctx, run)
	if err != nil {
		return "", err
	}
	return writePage(a, m.Run, page.Run(m))
}

// comparisonPage is the file name of a comparison's page. The same two texts
// share one page, which has the newest comparison.
func comparisonPage(c *report.Comparison) string {
	return fmt.Sprintf("compare-%s-%s-%s", datadir.FileName(c.Skill), datadir.TextName(c.A.SHA), datadir.TextName(c.B.SHA))
}

// writeNight writes the page of a night that had something to do, and returns
// its path, "" for none. Failure to write the page does not fail the night.
func writeNight(a *global, r *status.Night) string {
	busy := false
	for _, k := range r.Steps {
		busy = busy || k.Skill != ""
	}
	if r.DryRun || !busy {
		return ""
	}
	path, err := writePage(a, "night-"+r.ID, page.Night(r))
	if err != nil {
		a.Say("the night's page cannot be written: %v", err)
	}
	return path
}
