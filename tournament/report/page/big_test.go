package page

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/skill-evolve/evolve/tournament/report/reporttest"
)

// What a person waits for, of 200 candidates on 1,000 cases: how much is read, and how
// much of it is laid out before a fold is opened.
const (
	bigBytes = 20 << 20
	bigBoxes = 12_000
)

// TestBigPage builds the report of a run of 200 candidates and 1,000 cases, every
// cell measured, and opens it. How long that takes is BenchmarkBigPage's.
func TestBigPage(t *testing.T) {
	if testing.Short() {
		t.Skip("200,000 rollouts are no short test")
	}
	d := reporttest.Tournament(t, 200, 1000)
	var b bytes.Buffer
	if err := Run(reporttest.Model(t, d))(&b); err != nil {
		t.Fatal(err)
	}
	if b.Len() > bigBytes {
		t.Errorf("the page has %d bytes, want at most %d", b.Len(), bigBytes)
	}
	if n := bytes.Count(b.Bytes(), []byte(`<details class="case">`)); n != 1000 {
		t.Errorf("%d cases, want 1,000", n)
	}
	file := filepath.Join(t.TempDir(), "big.html")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	br := newBrowser(t)
	br.shape(1280, 900, "light")
	br.open(file)
	if boxes := ask[float64](br, `[...document.querySelectorAll("*")].filter(e => e.checkVisibility()).length`); boxes < 100 || boxes > bigBoxes {
		t.Errorf("%.0f elements are laid out, want at most %d", boxes, bigBoxes)
	}
	for _, s := range ask[[]string](br, overlaps) {
		t.Errorf("overlap: %s", s)
	}
	br.shoot("big-1280")
}

// BenchmarkBigPage times what a person waits for: the page, from the records to its
// load event in the browser.
func BenchmarkBigPage(b *testing.B) {
	d := reporttest.Tournament(b, 200, 1000)
	var page bytes.Buffer
	if err := Run(reporttest.Model(b, d))(&page); err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(b.TempDir(), "big.html")
	if err := os.WriteFile(file, page.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	br := newBrowser(b)
	br.open("/dev/null") // the first page pays for the browser's own start
	var load, paint float64
	for b.Loop() {
		br.open(file)
		load += ask[float64](br, `performance.getEntriesByType("navigation")[0].loadEventEnd`)
		paint += ask[float64](br, `new Promise(done => new PerformanceObserver(l => done(l.getEntries()[0].startTime)).observe({type: "paint", buffered: true}))`)
	}
	b.ReportMetric(load/float64(b.N), "load-ms")
	b.ReportMetric(paint/float64(b.N), "paint-ms")
}
