package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/report/reporttest"
)

func TestDiffText(t *testing.T) {
	d, err := report.Between("v0", "v1", reporttest.Parse(t, reporttest.OldText), reporttest.Parse(t, reporttest.NewText))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "diff.txt", d.Text(false))
	if d.Plus != 3 || d.Minus != 2 || d.KernelChanged {
		t.Errorf("+%d −%d, kernel changed %v", d.Plus, d.Minus, d.KernelChanged)
	}
	coloured := d.Text(true)
	if !strings.Contains(coloured, "\x1b[32m+- Sort them.\x1b[0m\n") || strings.Contains(coloured, "\x1b[31mbrief") {
		t.Errorf("our colours must be there and nobody else's: %q", coloured)
	}
	if bare := plain.Text(coloured); bare != d.Text(false) {
		t.Errorf("colour changes the text: %q", bare)
	}
}

func TestDiffMarksTheKernelAndNothingElse(t *testing.T) {
	d, err := report.Between("v0", "v1", reporttest.Parse(t, reporttest.OldText), reporttest.Parse(t, reporttest.NewText))
	if err != nil {
		t.Fatal(err)
	}
	var kernel []string
	for _, l := range d.Lines {
		if l.Kind == report.Kernel {
			kernel = append(kernel, l.Text)
		}
	}
	if got, want := strings.Join(kernel, "|"), "<!-- kernel -->|## Contract|Print one line of JSON.|<!-- /kernel -->"; got != want {
		t.Errorf("kernel lines are %q, want %q", got, want)
	}
}

func TestDiffSaysThatTheKernelDiffers(t *testing.T) {
	d, err := report.Between("v0", "v1", reporttest.Parse(t, reporttest.OldText), reporttest.Parse(t, strings.Replace(reporttest.OldText, "one line", "two lines", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if !d.KernelChanged || !strings.Contains(d.Text(false), "!!! the kernel differs") {
		t.Errorf("an edited kernel is not named: %+v", d)
	}
}

func TestDiffOfEqualTexts(t *testing.T) {
	d, err := report.Between("v0", "v1", reporttest.Parse(t, reporttest.OldText), reporttest.Parse(t, reporttest.OldText))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.Text(false), "v0 and v1 are the same text\n"; got != want || len(d.Lines) != 0 {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPatchApplies(t *testing.T) {
	old := strings.SplitAfter(reporttest.OldText, "\n")
	var got strings.Builder
	at := 0
	for _, l := range strings.SplitAfter(report.Patch("v0", "v1", reporttest.Parse(t, reporttest.OldText), reporttest.Parse(t, reporttest.NewText)), "\n") {
		if l == "" || strings.HasPrefix(l, "---") || strings.HasPrefix(l, "+++") {
			continue
		}
		if l[0] == '@' {
			var from int
			if _, err := fmt.Sscanf(l, "@@ -%d", &from); err != nil {
				t.Fatal(err)
			}
			for ; at < from-1; at++ {
				got.WriteString(old[at])
			}
			continue
		}
		if l[0] != '+' {
			if old[at] != l[1:] {
				t.Fatalf("line %d is %q, the patch wants %q", at+1, old[at], l[1:])
			}
			at++
		}
		if l[0] != '-' {
			got.WriteString(l[1:])
		}
	}
	got.WriteString(strings.Join(old[at:], ""))
	if got.String() != reporttest.NewText {
		t.Errorf("the patch makes %q", got.String())
	}
}
