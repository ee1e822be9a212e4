package sleep

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/pareto"
)

// TestOpenCertificateIsShort: what is not proven yet comes again every night, in a
// line of at most 120 characters, whatever the model is called.
func TestOpenCertificateIsShort(t *testing.T) {
	c := Certificate{Version: "v", Previous: "p", Model: Model{Agent: "claude", Asked: "next"}}
	l := c.open("", nil)
	part := CertificatePart{Run: "r"}
	for i := range 9 {
		against, alone := pareto.Pair{Quality: []float64{0.5, -0.25, 0}[i%3], Cost: -0.1, Latency: 0.2}, pareto.Pair{Quality: 0.25}
		l.enter(&part, fmt.Sprint("c", i), &against, &alone)
	}
	c.Parts = []CertificatePart{part}
	l = c.open("", nil)
	l.Lift, l.Worth = LiftOpen, "quality +0.25 over no skill (90% interval -0.10 to +0.60, 9 cases)"
	got := l.Certificate.String()
	if want := "on claude/next: not proven yet, 9 cases: quality +0.08 (-0.37 to +0.48); +0.25 over no skill; 4 objectives open"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if long := l.Reason + "; " + l.Worth; len(long) < 200 {
		t.Errorf("the whole reason: %s", long)
	}
	l.Model.Asked = strings.Repeat("long-", 13)
	got = l.Certificate.String()
	if n := len([]rune(got)); n > 120 || !strings.Contains(got, "9 cases") || strings.HasSuffix(got, ";") {
		t.Errorf("%d characters: %s", n, got)
	}
}
