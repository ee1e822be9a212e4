package work_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest/work"
)

// plain keeps texts as they are, but for one secret.
func plain(text string) (string, int) {
	return strings.ReplaceAll(text, "hunter2", "[secret]"), strings.Count(text, "hunter2")
}

func status(n int) *int { return &n }

func TestRecorder(t *testing.T) {
	r := work.New(work.All, plain, plain)
	r.Ran(0, "a", "go test ./... && echo hunter2", "")
	r.Ended("a", status(1), true)
	r.Changed(0, "b", "/src/app/main.go", "one\ntwo\nthree\n", "one\n2\nthree\n")
	r.Ended("b", nil, false)
	r.Changed(0, "c", "main.go", "never", "")
	r.Ended("c", nil, true)
	r.Changed(1, "d", "/etc/passwd", "x", "")
	r.Changed(1, "e", ".env", "x", "")
	r.Changed(1, "f", "hunter2/x.go", "x", "")
	r.Ran(1, "g", "rm -rf build", "/src/app/web")
	r.Refused(1, "g", "Bash", "no, keep it")
	r.Refused(1, "h", "WebFetch", "")
	r.Ran(1, "i", "ls", "")
	r.Skipped("i")
	r.Ran(1, "j", "make", "")
	r.Ended("j", nil, true)
	r.Changed(2, "k", "a.go", "1\n2", "1")
	r.Changed(2, "k", "a.go", "b", "")
	got := r.Finish("/src/app")
	want := map[int][]work.Act{
		0: {{Kind: work.Ran, Line: "go test ./... && echo [secret]", Exit: status(1), Tests: "go test"}, {Kind: work.Changed, File: "main.go", Added: "two", Removed: "2"}},
		1: {{Kind: work.Refused, Tool: "Bash", Line: "cd /src/app/web && rm -rf build", Said: "no, keep it"}, {Kind: work.Refused, Tool: "WebFetch"},
			{Kind: work.Ran, Line: "make", Exit: status(work.Unknown)}},
		2: {{Kind: work.Changed, File: "a.go", Added: "2\nb"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestOff(t *testing.T) {
	r := work.New(work.Off, plain, plain)
	r.Ran(0, "a", "ls", "")
	r.Changed(0, "a", "x", "y", "")
	r.Patch(0, "a", "*** Begin Patch")
	r.Ended("a", nil, false)
	r.Skipped("a")
	r.Refused(0, "a", "Bash", "")
	if got := r.Finish("/"); got != nil || r.Keeps(work.Ran) || r.Awaits("a") {
		t.Error(got)
	}
}
