package moments

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/subject"
)

var (
	begin = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	own   = subject.OfFile("~", ".claude/CLAUDE.md")
)

// claudes are the sessions of Claude Code.
func claudes(agent, _ string, _ subject.Ref, _ string) bool { return agent == "claude-code" }

func itself(folder string) string { return folder }

func talk(id string, day int, prompts ...string) *harvest.Session {
	s := &harvest.Session{ID: id, Agent: "claude-code", CWD: "/src/shop", Started: begin.AddDate(0, 0, day)}
	for i, p := range prompts {
		s.Turns = append(s.Turns, harvest.Turn{ID: fmt.Sprint(id, "-", i), Time: s.Started.Add(time.Duration(i) * time.Minute), Prompt: p, Answer: "Done."})
	}
	return s
}

func draw(share float64) *Draw {
	return &Draw{Subject: own.Key(), Seed: seed, Share: share}
}

// sides are the turns of a population, by their names, that are drawn (true), or teach.
func sides(d *Draw, sessions ...*harvest.Session) map[string]bool {
	out := map[string]bool{}
	for _, t := range Of(sessions, own, claudes, itself).Turns {
		if d.takes(t) {
			out[t.key()] = true
		} else if d.teaches(t) {
			out[t.key()] = false
		}
	}
	return out
}

func someTalk(t *rapid.T, id string, day int) *harvest.Session {
	prompts := rapid.SliceOfN(rapid.SampledFrom([]string{"add a test for it please", "no, as a table", "perfect, thanks", "push it", "why?"}), 1, 8).Draw(t, "prompts")
	s := talk(id, day, prompts...)
	if rapid.Bool().Draw(t, "no ids") {
		for i := range s.Turns {
			s.Turns[i].ID = ""
		}
	}
	return s
}

// Nothing that followed a turn changes whether it is drawn: neither words nor readings nor
// what the agent did, nor turns and sessions that come later; and a greater share only adds
// turns.
func TestDrawIsBlind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sessions []*harvest.Session
		for i := range rapid.IntRange(1, 12).Draw(t, "sessions") {
			sessions = append(sessions, someTalk(t, fmt.Sprint("s", i), i))
		}
		d := draw(rapid.Float64Range(0, MaxShare).Draw(t, "share"))
		was := sides(d, sessions...)
		for _, s := range sessions {
			for i := range s.Turns {
				turn := &s.Turns[i]
				turn.Answer, turn.Interrupted = rapid.StringN(0, 20, -1).Draw(t, "answer"), rapid.Bool().Draw(t, "stopped")
				turn.Reading = &harvest.Reading{Label: rapid.SampledFrom([]harvest.Label{harvest.Corrected, harvest.Accepted, harvest.Unknown}).Draw(t, "label"),
					Replayable: rapid.SampledFrom([]string{"yes", "no", "unclear"}).Draw(t, "replayable")}
				if i > 0 {
					turn.Prompt = "other words"
				}
			}
			s.Turns = append(s.Turns, talk(s.ID+"later", 0, "and more", "and more").Turns...)
		}
		sessions = append(sessions, talk("new", 100, "hello there", "and on it goes"))
		for name, drawn := range was {
			if now, ok := sides(d, sessions...)[name]; !ok || now != drawn {
				t.Fatalf("turn %s changed sides", name)
			}
		}
		for name, drawn := range sides(draw(d.Share+(MaxShare-d.Share)/2), sessions...) {
			if before, ok := was[name]; ok && before && !drawn {
				t.Fatalf("turn %s is no longer drawn with a greater share", name)
			}
		}
	})
}

// No session has turns that may be held out and turns that teach; a resumed session belongs
// to the one before, and does not repeat its turns.
func TestFamilies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := talk("a", 0, "one", "two", "three")
		b := talk("b", 1, "four", "five")
		b.Turns = append(slices.Clone(a.Turns[:rapid.IntRange(1, 3).Draw(t, "repeated")]), b.Turns...)
		c := talk("c", 2, "six")
		c.Turns = append(slices.Clone(b.Turns[len(b.Turns)-2:]), c.Turns...)
		d := &Draw{Subject: own.Key(), Seed: rapid.String().Draw(t, "seed"), Share: MaxShare}
		p := Of([]*harvest.Session{c, a, b}, own, claudes, itself)
		if len(p.Turns) != 6 {
			t.Fatalf("%d turns", len(p.Turns))
		}
		for _, x := range p.Turns {
			if x.Family != "a" || d.takes(x) == d.teaches(x) {
				t.Fatalf("turn %s of family %s: drawn %v, teaches %v", x.key(), x.Family, d.takes(x), d.teaches(x))
			}
		}
	})
}

// The coin is fair: of 20,000 turns its share is drawn, in each stratum.
func TestShare(t *testing.T) {
	for _, share := range []float64{.01, .1, .37, MaxShare} {
		d := draw(share)
		n := 0
		for i := range 20000 {
			if d.Takes("claude-code", fmt.Sprint("session ", i), "turn") {
				n++
			}
		}
		if sd := math.Sqrt(20000 * share * (1 - share)); math.Abs(float64(n)-20000*share) > 4*sd {
			t.Errorf("share %v: %d of 20000 are drawn", share, n)
		}
	}
}

// By default a quarter brings about 60 cases, at most half of the sessions.
func TestDefaultShare(t *testing.T) {
	of := func(days, turns int, prompt string) float64 {
		var sessions []*harvest.Session
		for day := range days {
			s := talk(fmt.Sprint("d", day), day)
			for i := range turns {
				s.Turns = append(s.Turns, harvest.Turn{ID: fmt.Sprint(day, ".", i), Time: s.Started, Prompt: prompt})
			}
			sessions = append(sessions, s)
		}
		return Of(sessions, own, claudes, itself).share()
	}
	for _, c := range []struct {
		days, turns int
		want        float64
	}{{91, 10, .066}, {200, 10, .066}, {1, 1, MaxShare}, {0, 0, MaxShare}, {28, 40, .017}} {
		if got := of(c.days, c.turns, "add a test"); math.Abs(got-c.want) > .0011 {
			t.Errorf("%d days with %d turns: share %v, want %v", c.days, c.turns, got, c.want)
		}
	}
	if got := of(91, 10, "push it"); got != MaxShare {
		t.Errorf("turns that cannot be replayed lower the share to %v", got)
	}
}

func TestPopulation(t *testing.T) {
	repo := subject.OfFile("/src/shop", "CLAUDE.md")
	change := func(f func(s *harvest.Session)) *harvest.Session {
		s := talk("x", 0, "add a test for it")
		f(s)
		return s
	}
	project := func(folder string) string {
		if folder == "/trees/shop-2/web" {
			return "/src/shop"
		}
		return folder
	}
	for name, c := range map[string]struct {
		s          *harvest.Session
		user, repo int
	}{
		"a session":              {change(func(*harvest.Session) {}), 1, 1},
		"in a folder below":      {change(func(s *harvest.Session) { s.CWD = "/src/shop/web" }), 1, 1},
		"in a worktree":          {change(func(s *harvest.Session) { s.CWD = "/trees/shop-2/web" }), 1, 1},
		"beside it":              {change(func(s *harvest.Session) { s.CWD = "/src/shop-old" }), 1, 0},
		"nowhere":                {change(func(s *harvest.Session) { s.CWD = "" }), 1, 0},
		"of the repository":      {change(func(s *harvest.Session) { s.CWD, s.Path = "/Users/a/shop", "/src/shop"+harvest.CheckpointMark+"/x" }), 1, 1},
		"of another agent":       {change(func(s *harvest.Session) { s.Agent = "codex" }), 0, 0},
		"a program's":            {change(func(s *harvest.Session) { s.Headless = true }), 0, 0},
		"a subagent's":           {change(func(s *harvest.Session) { s.Subagent = "1" }), 0, 0},
		"a replay":               {change(func(s *harvest.Session) { s.CWD = "/tmp/evolve-case-12" }), 0, 0},
		"without a word":         {change(func(s *harvest.Session) { s.Turns[0].Prompt = " " }), 0, 0},
		"that moved into it":     {change(func(s *harvest.Session) { s.CWD = "/"; s.Folders = []string{"/", "/src/shop"} }), 1, 0},
		"that moved out of it":   {change(func(s *harvest.Session) { s.Folders = []string{"/src/shop", "/"} }), 1, 1},
		"in a folder above it":   {change(func(s *harvest.Session) { s.CWD = "/src" }), 1, 0},
		"its own copy, elided..": {change(func(s *harvest.Session) { s.Turns = append(s.Turns, s.Turns[0]) }), 1, 1},
	} {
		if n := len(Of([]*harvest.Session{c.s}, own, claudes, project).Turns); n != c.user {
			t.Errorf("%s: %d turns of a person's file, want %d", name, n, c.user)
		}
		if n := len(Of([]*harvest.Session{c.s}, repo, claudes, project).Turns); n != c.repo {
			t.Errorf("%s: %d turns of a repository's file, want %d", name, n, c.repo)
		}
	}
}

// held is the id of a session that may be held out, or teaches.
func held(d *Draw, want bool) string {
	for i := 0; ; i++ {
		if id := fmt.Sprint("s", i); d.HeldOut("claude-code", id) == want {
			return id
		}
	}
}

func TestChoose(t *testing.T) {
	d := draw(MaxShare) // all turns of the sessions that may be held out
	read := func(s *harvest.Session, label harvest.Label, words, replayable string) *harvest.Session {
		s.Turns[0].Reading = &harvest.Reading{Label: label, Words: words, Reply: 1, Replayable: replayable, By: "model"}
		return s
	}
	for name, c := range map[string]struct {
		first, reply string
		label        harvest.Label
		replayable   string
		want, taught Counts
	}{
		"corrected":        {"add a chart", "no, as a table", harvest.Corrected, "yes", Counts{Corrected: 1, Silent: 1}, Counts{Taught: 1}},
		"accepted":         {"add a chart", "perfect", harvest.Accepted, "yes", Counts{Accepted: 1, Hanging: map[string]int{nothing: 1}}, Counts{}},
		"nothing said":     {"add a chart", "now the docs", harvest.Unknown, "yes", Counts{Silent: 2}, Counts{}},
		"not replayable":   {"add a chart", "no, as a table", harvest.Corrected, "no", Counts{Silent: 1, Hanging: map[string]int{asRead: 1}}, Counts{}},
		"maybe replayable": {"add a chart", "no, as a table", harvest.Corrected, "unclear", Counts{Silent: 1, Hanging: map[string]int{asRead: 1}}, Counts{}},
		"not read":         {"add a chart", "no, as a table", "", "", Counts{Silent: 1, Unread: 1}, Counts{}},
		"hangs on a push":  {"push it", "no, to origin", harvest.Corrected, "yes", Counts{Silent: 1, Hanging: map[string]int{network: 1}}, Counts{}},
		"hangs on an app":  {"open localhost:3000 in the browser", "no", harvest.Corrected, "yes", Counts{Silent: 1, Hanging: map[string]int{screen: 1}}, Counts{}},
	} {
		for _, out := range []bool{true, false} {
			s := talk(held(d, out), 0, c.first, c.reply)
			if c.label != "" {
				read(s, c.label, c.reply, c.replayable)
			}
			got := d.Choose(Of([]*harvest.Session{s}, own, claudes, itself))
			n, want := got.Counts, c.want
			want.Sessions, want.Turns, want.Drawn = 1, 2, 2
			if !out {
				want = c.taught
				want.Sessions, want.Turns, want.Teaching = 1, 2, 2
			}
			if n.Hanging = maps.Clone(n.Hanging); len(n.Hanging) == 0 {
				n.Hanging = nil
			}
			if !reflect.DeepEqual(n, want) {
				t.Errorf("%s, may be held out %v: %+v, want %+v", name, out, n, want)
			}
			cases := []eval.Case{{Source: &eval.Source{Session: s.ID}}}
			if got.Mark(cases); out && cases[0].TrainOnly() || n.Taught > 0 && !cases[0].TrainOnly() {
				t.Errorf("%s, may be held out %v: train only %v", name, out, cases[0].TrainOnly())
			}
		}
	}
}

// Cues are for what people ask, not for what they paste or mention.
func TestHangs(t *testing.T) {
	for prompt, want := range map[string]string{
		"commit and push please":                   changes,
		"okay, commit this batch as is":            changes,
		"commit":                                   changes,
		"/quick-commit":                            changes,
		"let's amend that":                         changes,
		"add a commit hook":                        "",
		"show the commit in the list":              "",
		"push it":                                  network,
		"create a draft PR":                        network,
		"address the PR comments":                  network,
		"look at #4711":                            network,
		"/github-pr-review":                        network,
		"rebase onto the latest main":              network,
		"fix the merge conflicts":                  network,
		"read https://example.com/spec first":      network,
		"file a linear issue":                      network,
		"it is at localhost:8080, try it":          app,
		"why does it fail on staging?":             app,
		"see the screenshot":                       screen,
		"[Image #1] is cut off":                    screen,
		"look into ~/Downloads/report.csv":         elsewhere,
		"compare it with ../other-repo":            elsewhere,
		"ask about it on slack":                    person,
		"perfect, thanks":                          nothing,
		"great, now add a title to it":             "",
		"add a pre-push hook":                      "",
		"push the value onto the stack":            "",
		"for #1, delete it":                        "",
		"commit this":                              changes,
		"fix the linear interpolation of the axis": "",
		"what does the release workflow do?":       "",
		"add a test for the parser in cmd/app":     "",
	} {
		s := talk("s", 0, prompt)
		if got := (Turn{s, 0, "s"}).hangs(); got != want {
			t.Errorf("%q hangs on %q, want %q", prompt, got, want)
		}
	}
	s := talk("s", 0, "what does the library say about it?")
	s.Turns[0].Tools = []harvest.Tool{{Name: "Read"}, {Name: "WebFetch"}}
	if got := (Turn{s, 0, "s"}).hangs(); got != network {
		t.Errorf("a turn that fetched a page hangs on %q", got)
	}
}
