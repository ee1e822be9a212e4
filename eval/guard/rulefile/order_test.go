package rulefile

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const lintFirst = `{"version":1,"rules":[{"tool":"Bash","program":"git","words":["commit"],"unless_ran":["make lint"],"since_edit":"*.go","say":"a"},{"event":"Stop","unless_ran":["make lint"],"since_edit":"*.go","say":"b"}]}`

// A commit is stopped if and only if the last edit of a Go file is behind the last run of the
// linter, whatever else the session does.
func TestOrderOfAnySession(t *testing.T) {
	f := parse(t, lintFirst)
	steps := []*Call{edit("Write", "/p/a.go"), edit("Write", "/p/a.md"), edit("Read", "/p/b.go"), bash("make lint"), bash("make test"), bash("git commit"), bash("ls"), {Event: Stop}}
	rapid.Check(t, func(t *rapid.T) {
		s, waits, held := &State{}, false, false
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(steps)-1), 1, 20).Draw(t, "steps") {
			c := *steps[i]
			stopped := f.Find(&c, s) != nil
			want := waits && (c.Command == "git commit" || c.Event == Stop && !held)
			if stopped != want {
				t.Fatalf("%+v: stopped %v, want %v", c, stopped, want)
			}
			switch {
			case c.File == "/p/a.go":
				waits, held = true, false
			case c.Command == "make lint":
				waits, held = false, false
			case c.Event == Stop && want:
				held = true
			}
			if !f.Orders() || f.Find(bash("git commit"), nil) != nil {
				t.Fatal("without a state an order holds nothing")
			}
		}
	})
}

func FuzzOrder(f *testing.F) {
	f.Add(lintFirst, "/p/a.go\nmake lint\ngit commit\n")
	f.Add(`{"version":1,"rules":[{"tool":"Edit","unless_ran":["x -f *"],"say":"a"}]}`, "/a\n/a\nenv A=1 x -f y")
	f.Fuzz(func(t *testing.T, text, session string) {
		file, err := Parse([]byte(text))
		if err != nil {
			return
		}
		s := &State{}
		for line := range strings.SplitSeq(session, "\n") {
			c := bash(line)
			switch {
			case line == "":
				c = &Call{Event: Stop}
			case strings.HasPrefix(line, "/"):
				c = edit("Edit", line)
			}
			kept, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			again := &State{}
			if err := json.Unmarshal(kept, again); err != nil {
				t.Fatal(err)
			}
			copied := *c
			first, second := file.Find(c, s), file.Find(&copied, again)
			if first != second || !reflect.DeepEqual(append([]string{}, s.Waits...), append([]string{}, again.Waits...)) {
				t.Fatalf("%q: what is kept of %q decides otherwise", text, line)
			}
			if len(s.Waits) > len(file.Rules) || len(slices.Compact(slices.Sorted(slices.Values(s.Waits)))) != len(s.Waits) {
				t.Fatalf("%q: %v grows", text, s.Waits)
			}
			if !file.Orders() && len(s.Waits) > 0 {
				t.Fatal("a state without orders")
			}
		}
	})
}
