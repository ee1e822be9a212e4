package plain

import (
	"fmt"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	var b strings.Builder
	w := NewTable(&b)
	fmt.Fprint(w, "case\tasked\tscore\n")
	fmt.Fprint(w, "a\t週次の売上\t1\n")             // wide: two columns each
	fmt.Fprint(w, "bb\tcafe\u0301\t0.5\n")     // a combining accent takes none
	fmt.Fprint(w, "ccc\t👩‍🚀 log\tlong tail\n") // several runes, one picture
	fmt.Fprint(w, "d\t\t\n\nnote\n")
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	want := "case  asked       score\n" +
		"a     週次の売上  1\n" +
		"bb    café        0.5\n" +
		"ccc   👩‍🚀 log      long tail\n" +
		"d\n\nnote\n"
	if got := strings.ReplaceAll(b.String(), "e\u0301", "é"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	b.Reset()
	if err := w.Flush(); err != nil || b.Len() > 0 {
		t.Errorf("a table that was written out is not empty: %q, %v", b.String(), err)
	}
}

func TestTablePaint(t *testing.T) {
	var b strings.Builder
	w := NewTable(&b)
	w.Paint = func(row, column int, cell string) string {
		if row == 1 && column == 0 {
			return "<" + cell + ">"
		}
		return cell
	}
	fmt.Fprint(w, "name\tn\nab\t1\n")
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "name  n\n<ab>    1\n"; got != want {
		t.Errorf("got %q, want %q: paint takes no columns", got, want)
	}
}

func TestFit(t *testing.T) {
	for _, k := range []struct {
		in   string
		w    int
		want string
	}{
		{"dataviz", 7, "dataviz"}, {"dataviz", 6, "datav…"}, {"dataviz", 1, "…"}, {"dataviz", 0, ""}, {"", 3, ""},
		{"週次の売上", 10, "週次の売上"}, {"週次の売上", 9, "週次の売…"}, {"週次の売上", 8, "週次の…"},
	} {
		got := Fit(k.in, k.w)
		if got != k.want || Width(got) > k.w {
			t.Errorf("Fit(%q, %d) = %q, %d columns; want %q", k.in, k.w, got, Width(got), k.want)
		}
	}
}

func TestTableNarrow(t *testing.T) {
	text := "id\tsplit\tasked\nmined-01\ttest\tDraw the monthly rainfall\nmined-02\tval\tPlot\n"
	for _, k := range []struct {
		width int
		want  string
	}{
		{0, "id        split  asked\nmined-01  test   Draw the monthly rainfall\nmined-02  val    Plot\n"},
		{42, "id        split  asked\nmined-01  test   Draw the monthly rainfall\nmined-02  val    Plot\n"},
		{40, "id       split asked\nmined-01 test  Draw the monthly rainfall\nmined-02 val   Plot\n"},
		{30, "id       split asked\nmined-01 test  Draw the month…\nmined-02 val   Plot\n"},
		{20, "id       split asked\nmined-01 test  Draw the monthly rainfall\nmined-02 val   Plot\n"},
	} {
		var b strings.Builder
		w := NewTable(&b)
		w.Width = k.width
		fmt.Fprint(w, text)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if b.String() != k.want {
			t.Errorf("%d columns:\n%s\nwant\n%s", k.width, b.String(), k.want)
		}
	}
}
