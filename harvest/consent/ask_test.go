package consent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAsk(t *testing.T) {
	dir := t.TempDir()
	var projects []Project
	for i := range 12 {
		projects = append(projects, Project{Folder: fmt.Sprintf("%s/p%02d", dir, i+1), Sessions: i + 1, Last: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)})
	}
	projects = append(projects, Project{Sessions: 3})
	for _, c := range []struct {
		answers []string
		all     bool
		allowed []int
		asked   int
	}{
		{[]string{"a"}, true, nil, 1},
		{[]string{" All "}, true, nil, 1},
		{[]string{"n"}, false, nil, 1},
		{[]string{"2, 10"}, false, []int{2, 10}, 1},
		{[]string{"11", "x", "0", "1 y", ",", "1"}, false, []int{1}, 6}, // 11 is not shown
		{[]string{"", "12"}, false, []int{12}, 2},
	} {
		var d Decisions
		var questions []string
		answer, err := Ask(projects, "/data/projects.yaml", func(q string) (string, bool, error) {
			questions = append(questions, q)
			return c.answers[len(questions)-1], true, nil
		})
		if err != nil || answer(&d) != nil {
			t.Fatal(err)
		}
		var allowed []int
		for _, r := range d.Rules {
			allowed = append(allowed, slices.IndexFunc(projects, func(p Project) bool { return real(p.Folder) == r.Folder && r.Read })+1)
		}
		if err != nil || d.All != c.all || !slices.Equal(allowed, c.allowed) || len(questions) != c.asked {
			t.Errorf("%q: %+v, %d questions, %v", c.answers, d.Rules, len(questions), err)
		}
		first := questions[0]
		for _, want := range []string{"p01", "p10", "1 session ", "10 sessions", "and 2 more, with 23 sessions", "3 sessions of no known folder", "/data/projects.yaml", "on this machine only", "show all 12"} {
			if !strings.Contains(first, want) {
				t.Errorf("no %q in the question:\n%s", want, first)
			}
		}
		if strings.Contains(first, "p11") || len(questions) > 1 && c.answers[0] == "" && !strings.Contains(questions[1], "p12") {
			t.Errorf("the list has more or less than it should:\n%s", strings.Join(questions, "\n"))
		}
	}
	if _, err := Ask(projects, "", func(string) (string, bool, error) { return "", false, nil }); !IsUndecided(err) {
		t.Errorf("nobody answers: %v", err)
	}
}

// What a gate holds back is counted if nothing was decided on it.
func TestGate(t *testing.T) {
	dir := t.TempDir()
	owner, machine := new(Decisions), new(Decisions)
	machine.AllowAll()
	machine.Deny(dir + "/fixed")
	owner.Allow(dir + "/shop")
	owner.Allow(dir + "/fixed")
	owner.Deny(dir + "/client")
	g := &Gate{Decisions: []*Decisions{owner, machine}}
	for _, c := range []struct {
		folders []string
		want    bool
	}{{[]string{dir + "/shop/src"}, true}, {[]string{dir + "/shop", dir + "/new"}, false}, {[]string{dir + "/new"}, false}, {[]string{dir + "/newer"}, false}, {nil, false},
		{[]string{dir + "/client"}, false}, {[]string{dir + "/newest", dir + "/client"}, false}, {[]string{dir + "/fixed"}, false}} {
		if got := g.Allowed(c.folders); got != c.want {
			t.Errorf("%q: %v", c.folders, got)
		}
	}
	if sessions, projects := g.Waiting(); sessions != 4 || projects != 3 {
		t.Errorf("%d sessions of %d projects wait", sessions, projects)
	}
	before := g.Print()
	owner.Allow(dir+"/shop", "openai")
	if g.Print() != before {
		t.Error("who gets text changes what is read")
	}
	owner.DenyAll()
	if g.Print() == before || owner.MayRead([]string{dir + "/shop"}) {
		t.Error("nothing changed")
	}
	if owner.AllowAll(); owner.MayRead([]string{dir + "/client"}) || !owner.MayRead(nil) {
		t.Error("all is not all that is not denied")
	}
}

func TestSurvey(t *testing.T) {
	dir := t.TempDir()
	s := Survey{Decisions: new(Decisions)}
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	s.Add([]string{dir + "/a", dir + "/b"}, day)
	s.Add([]string{dir + "/b"}, day.Add(time.Hour))
	s.Add([]string{dir + "/a"}, day.Add(-time.Hour))
	s.Add(nil, time.Time{})
	got := s.Projects()
	if len(got) != 3 || got[0].Folder != real(dir+"/b") || got[1].Sessions != 2 || !got[1].Last.Equal(day) || got[2].Folder != "" {
		t.Errorf("%+v", got)
	}
}

// Only what was chosen is read: not a project that a chosen one holds, and not one in it
// that was allowed before.
func TestChosenAlone(t *testing.T) {
	dir := t.TempDir()
	named := []Project{{Folder: dir + "/team/client/shop"}, {Folder: dir + "/team/client"}, {Folder: dir + "/team"}, {Folder: dir + "/else"}}
	for picked, want := range map[string][]bool{"3": {false, false, true, false}, "3 1": {true, false, true, false}, "1 2 3": {true, true, true, false}, "4": {false, false, false, true}} {
		var d Decisions
		asked := ""
		answer, err := Ask(named, "", func(q string) (string, bool, error) { asked = q; return picked, true, nil })
		if err != nil || answer(&d) != nil || !strings.Contains(asked, "A project inside another one is denied") {
			t.Fatal(err, asked)
		}
		for i, p := range named {
			if d.MayRead([]string{p.Folder}) != want[i] {
				t.Errorf("%s was chosen: %+v", picked, d.Rules)
			}
		}
	}
	var d Decisions
	d.AllowAll()
	d.Allow(dir + "/team/client")
	d.Deny(dir + "/team")
	if d.MayRead([]string{dir + "/team/client"}) || !d.MayRead([]string{dir + "/else"}) {
		t.Errorf("%+v", d.Rules)
	}
	if _, err := Ask([]Project{{Folder: "/team/a\n   2  /home/dev\t9 sessions"}}, "", func(q string) (string, bool, error) {
		if strings.Contains(q, "\n   2") || strings.Contains(q, "denied") {
			t.Errorf("a name forges a line:\n%s", q)
		}
		return "n", true, nil
	}); err != nil {
		t.Error(err)
	}
}

// The hints name numbers that are on the list.
func TestHints(t *testing.T) {
	all := []Project{{Folder: "/a"}, {Folder: "/b"}, {Folder: "/c"}}
	for n, want := range []string{"a: all projects   n: none\n", "1: only this one\n", "1 or 2: only that one\n", "1 3: only these\n"} {
		if _, err := Ask(all[:n], "", func(q string) (string, bool, error) {
			if !strings.Contains(q, want) {
				t.Errorf("%d projects: no %q in\n%s", n, want, q)
			}
			return "n", true, nil
		}); err != nil {
			t.Error(err)
		}
	}
}
