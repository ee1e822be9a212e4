package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/eval/plain"
)

// A screen is as much of a terminal as evolve asks for: it holds what a person
// sees. A sequence that it does not know is an error, not nothing.
type screen struct {
	width, height int
	reflow        bool // folds and unfolds lines when its width changes, as most do
	rows          []row
	top           int // first row on the screen; those above have been scrolled out
	x, y          int // y counts from the first row of all
	wrap, cursor  bool
	pending       string // an unfinished sequence or character
	clipped       int    // characters that did not fit where wrapping was off
	painted       int    // sequences for colours
	unknown       []string
}

// A row is a line of cells; goesOn: it was folded, the next one belongs to it.
type row struct {
	cells  []string // "" behind a wide character
	goesOn bool
}

func newScreen(width, height int) *screen {
	return &screen{width: width, height: height, rows: make([]row, 1), wrap: true, cursor: true}
}

func (s *screen) Write(p []byte) (int, error) {
	text := s.pending + string(p)
	s.pending = ""
	for text != "" {
		n := s.step(text)
		if n == 0 {
			s.pending = text
			break
		}
		text = text[n:]
	}
	return len(p), nil
}

// step obeys the first sequence or character of text and returns its length; 0
// asks for more.
func (s *screen) step(text string) int {
	switch text[0] {
	case '\r':
		s.x = 0
		return 1
	case '\n':
		s.rows[s.y].goesOn = false
		s.down()
		return 1
	case '\b':
		s.x = max(0, s.x-1)
		return 1
	case 0x1b:
		return s.sequence(text)
	}
	if !utf8.FullRuneInString(text) {
		return 0
	}
	r, n := utf8.DecodeRuneInString(text)
	s.put(string(r))
	return n
}

func (s *screen) sequence(text string) int {
	if len(text) < 2 {
		return 0
	}
	if text[1] != '[' {
		s.unknown = append(s.unknown, text[:2])
		return 2
	}
	end := strings.IndexFunc(text[2:], func(r rune) bool { return r >= '@' && r <= '~' })
	if end < 0 {
		return 0
	}
	end += 2
	arg := text[2:end]
	n, err := strconv.Atoi(arg)
	if err != nil {
		n = 1
	}
	switch what := arg + text[end:end+1]; {
	case what == "?7l" || what == "?7h":
		s.wrap = what == "?7h"
	case what == "?25l" || what == "?25h":
		s.cursor = what == "?25h"
	case text[end] == 'A':
		s.y = max(s.top, s.y-n)
	case what == "K":
		s.rows[s.y].cells = s.rows[s.y].cells[:min(s.x, len(s.rows[s.y].cells))]
		s.rows[s.y].goesOn = false
	case what == "J":
		s.rows[s.y].cells = s.rows[s.y].cells[:min(s.x, len(s.rows[s.y].cells))]
		s.rows[s.y].goesOn = false
		s.rows = s.rows[:s.y+1]
	case text[end] == 'm':
		s.painted++
	default:
		s.unknown = append(s.unknown, text[:end+1])
	}
	return end + 1
}

func (s *screen) put(r string) {
	w := plain.Width(r)
	if s.x+w > s.width {
		if !s.wrap {
			s.clipped++
			s.x = s.width - w
		} else {
			s.rows[s.y].goesOn = true
			s.down()
			s.x = 0
		}
	}
	line := &s.rows[s.y]
	for len(line.cells) < s.x+w {
		line.cells = append(line.cells, " ")
	}
	line.cells[s.x] = r
	if w == 2 {
		line.cells[s.x+1] = ""
	}
	s.x += w
}

func (s *screen) down() {
	s.y++
	if s.y == len(s.rows) {
		s.rows = append(s.rows, row{})
	}
	s.top = max(s.top, s.y-s.height+1)
}

// resize gives the terminal another width.
func (s *screen) resize(width int) {
	s.width = width
	if !s.reflow {
		return
	}
	var out []row
	var x, y int
	for i := 0; i < len(s.rows); {
		var line []string
		at := -1 // where the cursor is in the unfolded line
		for {
			if i == s.y {
				at = len(line) + s.x
			}
			line = append(line, s.rows[i].cells...)
			i++
			if i == len(s.rows) || !s.rows[i-1].goesOn {
				break
			}
		}
		first := len(out)
		for {
			n := min(width, len(line))
			out = append(out, row{slices.Clone(line[:n]), n < len(line)})
			if line = line[n:]; len(line) == 0 {
				break
			}
		}
		if at >= 0 {
			y, x = min(first+at/width, len(out)-1), at%width
		}
	}
	s.rows, s.x, s.y = out, x, y
	s.top = max(0, len(out)-s.height)
}

// lines is everything that was ever on the screen and not taken away, as it was
// said: what the terminal folded is one line.
func (s *screen) lines() []string {
	var out []string
	line := ""
	for _, r := range s.rows {
		line += strings.Join(r.cells, "")
		if !r.goesOn {
			out, line = append(out, strings.TrimRight(line, " ")), ""
		}
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// seen is what is on the screen now, row by row.
func (s *screen) seen() string {
	var b strings.Builder
	for _, r := range s.rows[s.top:] {
		fmt.Fprintln(&b, strings.TrimRight(strings.Join(r.cells, ""), " "))
	}
	return b.String()
}

// TestScreen holds the terminal of these tests to what real ones do.
func TestScreen(t *testing.T) {
	for _, k := range []struct {
		name, in, want string
		x, y           int
	}{
		{"folded", "0123456789ab\r\ncd", "0123456789ab|cd", 2, 2},
		{"over it", "abc\rX\nY\x1b[A\rZ", "Zbc| Y", 1, 0},
		{"cut off", "\x1b[?7l0123456789abc\x1b[?7h\r\nx", "012345678c|x", 1, 1},
		{"erased", "one\r\ntwo\r\nthree\x1b[A\x1b[A\r\x1b[J!", "!", 1, 0},
		{"to the end", "abcdef\rxy\x1b[K", "xy", 2, 0},
		{"wide", "週次の売上高", "週次の売上高", 2, 1},
		{"up no further than the top", "1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[9A\rX", "1|2|X|4|5|6", 1, 2},
	} {
		s := newScreen(10, 4)
		for i := range len(k.in) { // however it is cut
			if _, err := s.Write([]byte(k.in[i : i+1])); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Join(s.lines(), "|"); got != k.want {
			t.Errorf("%s: %q, want %q", k.name, got, k.want)
		}
		if s.x != k.x || s.y != k.y {
			t.Errorf("%s: the cursor is at %d, %d, want %d, %d", k.name, s.x, s.y, k.x, k.y)
		}
		if len(s.unknown) > 0 {
			t.Errorf("%s: unknown %q", k.name, s.unknown)
		}
	}
	s := newScreen(10, 4)
	s.reflow = true
	fmt.Fprint(s, "0123456789\r\nab\x1b[A\r")
	s.resize(4)
	if s.x != 0 || s.y != 0 || s.seen() != "0123\n4567\n89\nab\n" {
		t.Errorf("narrower: cursor at %d, %d of\n%s", s.x, s.y, s.seen())
	}
	s.resize(10)
	if got := s.seen(); got != "0123456789\nab\n" {
		t.Errorf("wide again:\n%s", got)
	}
}
