package page

import (
	"io"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/report/reporttest"
)

// pageWriters are pages of every kind, and of every size.
func pageWriters(t *testing.T) map[string]func(io.Writer) error {
	return map[string]func(io.Writer) error{
		"run":     Run(reporttest.Model(t, reporttest.Sample(t))),
		"hostile": Run(reporttest.Model(t, reporttest.HostileRun(t))),
		"compare": Comparison(reporttest.HostileComparison(t)),
		"night":   Night(reporttest.Night()),
		"quiet":   Night(&report.Night{ID: "20260302-031700", Policy: "stage", Began: reporttest.Begin, Ended: reporttest.Begin, Spent: eval.Spent{CostKnown: true}}),
		"busy":    Run(reporttest.Model(t, reporttest.Tournament(t, 30, 60))),
	}
}
