package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNightLeavesAPage: the page of a night shows what it did and leads to
// those of its runs; an idle night leaves none.
func TestNightLeavesAPage(t *testing.T) {
	t.Parallel()
	b := newBedroom(t)
	n := b.night(exitDone)
	raw, err := os.ReadFile(n.Report)
	if err != nil {
		t.Fatal(err)
	}
	page, linked := string(raw), 0
	for _, k := range n.Steps {
		if k.Result != nil && k.Result.Report != "" {
			linked++
			name := filepath.Base(k.Result.Report)
			if !strings.Contains(page, `<a href="`+name+`">`) {
				t.Errorf("the night's page does not lead to %s", name)
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(n.Report), name)); err != nil {
				t.Error(err)
			}
		}
	}
	if linked == 0 {
		t.Errorf("no step of the night has a report: %+v", n.Steps)
	}
	if got := strings.TrimSpace(b.run(exitDone, "report", n.ID)); got != n.Report {
		t.Errorf("report %s wrote %s, the night %s", n.ID, got, n.Report)
	}
	again, err := os.ReadFile(n.Report)
	if err != nil {
		t.Fatal(err)
	}
	if string(again) != page {
		t.Error("the same night made two pages")
	}
	info, err := os.Stat(n.Report)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
