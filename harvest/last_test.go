package harvest

import (
	"strings"
	"testing"
)

func TestLastLine(t *testing.T) {
	long := strings.Repeat("x", 2*maxTail)
	for text, want := range map[string]struct {
		end  int
		line string
	}{
		"": {0, ""}, "\n": {1, "\n"}, "a\nb\n": {4, "b\n"}, "a\nb": {2, "a\n"}, "a": {1, "a"},
		"a\n" + long: {2 + len(long), long[:maxTail]}, long + "\nb\n": {len(long) + 3, "b\n"}, long + "\n": {len(long) + 1, long[:maxTail-1] + "\n"},
	} {
		f := FileState{Size: int64(len(text))}
		if err := f.sign(strings.NewReader(text)); err != nil || f.End != int64(want.end) || f.Last != hashLine([]byte(want.line)) {
			t.Errorf("%.20q: %+v, %v", text, f, err)
		}
		if !f.holds(strings.NewReader(text)) {
			t.Errorf("%.20q: it does not hold its own last line", text)
		}
		if text != "" && f.holds(strings.NewReader(strings.Repeat("y", len(text)))) {
			t.Errorf("%.20q: anything holds its last line", text)
		}
	}
}
