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
	if !d.KernelChanged || !strings.Contains(d.Text(false), "!!! the locked lines differ") {
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

func TestDiffMarksChangedWords(t *testing.T) {
	d, err := report.Between("v0", "v1", reporttest.Parse(t, reporttest.OldText), reporttest.Parse(t, strings.Replace(reporttest.OldText, "at most three tags.", "at most five tags.", 1)))
	if err != nil {
		t.Fatal(err)
	}
	got := d.Text(true)
	for _, want := range []string{"\x1b[31m-- Use at most \x1b[7mthree\x1b[27m tags.\x1b[0m\n", "\x1b[32m+- Use at most \x1b[7mfive\x1b[27m tags.\x1b[0m\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	if plain.Text(got) != d.Text(false) {
		t.Errorf("colour changes the text: %q", plain.Text(got))
	}
}

// TestDiffShowsWhatCannotBeSeen: line ends and hidden characters are what differs
// between lines that look the same.
func TestDiffShowsWhatCannotBeSeen(t *testing.T) {
	for change, want := range map[string]string{
		"Be brief.":         "-Be brief.\n+Be brief.\n\\ No newline at end of file\n",
		"Be brief.\r\n":     "-Be brief.\n+Be brief.^M\n",
		"Be\u202e brief.\n": "-Be brief.\n+Be<U+202E> brief.\n",
		"Be\x07 brief.\n":   "+Be brief.\n",
	} {
		d, err := report.Between("v0", "v1", reporttest.Parse(t, reporttest.OldText), reporttest.Parse(t, strings.Replace(reporttest.OldText, "Be brief.\n", change, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Text(false); !strings.Contains(got, want) {
			t.Errorf("%q is shown as\n%s", change, got)
		}
	}
}
