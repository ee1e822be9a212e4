package applies

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/evaltest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A model answers about each request by its text.
type model struct {
	reply func(requests []string) string
	err   error
	name  string
	seen  []eval.Prompt
}

func (m *model) Identity() eval.Identity { return eval.Identity{Backend: "test", Model: m.name} }

func (m *model) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	if m.err != nil {
		return eval.Completion{}, m.err
	}
	m.seen = append(m.seen, p)
	return eval.Completion{Text: m.reply(requestsIn(p.User)), Finish: "stop"}, nil
}

// requestsIn are the quoted texts of the requests in a prompt.
func requestsIn(prompt string) (out []string) {
	for _, part := range strings.Split(prompt, "\nrequest ")[1:] {
		_, quoted := evaltest.Split(part)
		var s seen
		if json.Unmarshal([]byte(strings.ReplaceAll("\n"+quoted, "\n> ", "\n")), &s) == nil {
			out = append(out, s.Request)
		}
	}
	return out
}

// deciding replies that these lines apply to requests that contain a word.
func deciding(word string, lines ...int) func([]string) string {
	return func(requests []string) string {
		var of []string
		for i, q := range requests {
			list := []int{}
			if strings.Contains(q, word) {
				list = lines
			}
			raw, _ := json.Marshal(list)
			of = append(of, fmt.Sprintf(`{"id":"%d","lines":%s}`, i+1, raw))
		}
		return "```json\n{\"requests\":[" + strings.Join(of, ",") + "]}\n```"
	}
}

// notes is a memory.
type notes struct {
	mu sync.Mutex
	by map[string][]byte
}

func (n *notes) Recall(_ context.Context, key string) ([]byte, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.by[key], nil
}

func (n *notes) Remember(_ context.Context, _, key string, answer []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.by == nil {
		n.by = map[string][]byte{}
	}
	n.by[key] = answer
	return nil
}

func doc(t testing.TB, body string) *skill.Document {
	t.Helper()
	d, err := skill.Parse([]byte("---\nname: s\ndescription: d\n---\n\n"+body), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func variant(t testing.TB, body string) eval.Variant {
	return eval.Variant{Name: "s", Doc: doc(t, body)}
}

func day(n int) time.Time { return time.Date(2026, 11, n, 9, 0, 0, 0, time.UTC) }

func caseOf(n int, prompt string) eval.Case {
	return eval.Case{ID: fmt.Sprint("c", n), Prompt: prompt, Split: eval.Test,
		Source: &eval.Source{Origin: record.Mined, Session: fmt.Sprint("s", n), Time: day(n)}}
}

func TestChanged(t *testing.T) {
	from, to := doc(t, "# Rules\n\n- Run the tests before you say that you are done.\n- Be kind.\n- Use tabs.\n"), doc(t, "# Rules\n\n- Run the linter and the tests before you say that you are done.\n- Be kind.\n- Ask before you delete.\n")
	want := []Line{{Was: "Run the tests before you say that you are done.", Is: "Run the linter and the tests before you say that you are done."}, {Is: "Ask before you delete."}, {Was: "Use tabs."}}
	if got := Changed(from, to); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := Lines(to); len(got) != 4 || got[1].Text() != "Run the linter and the tests before you say that you are done." { // with the description
		t.Errorf("%+v", got)
	}
}

// TestSeesNothingThatFollowed: of a case the model sees the request, the last of what was said
// before it and names of files; of nothing else a word.
func TestSeesNothingThatFollowed(t *testing.T) {
	should := true
	c := caseOf(1, "draw the SEENREQUEST")
	c.Context = []eval.Message{{Role: "user", Text: "HIDDENEARLY"}, {Role: "user", Text: "SEENBEFORE"}, {Role: "assistant", Text: "SEENREPLY"}}
	c.Files = map[string]string{"SEENNAME.md": "HIDDENCONTENT"}
	c.Checks = []eval.Check{{Type: eval.Contains, Value: "HIDDENCHECK", Feedback: "HIDDENFEEDBACK"}, {Type: eval.Judge, Value: "HIDDENCRITERION"}}
	c.Reference, c.ShouldTrigger, c.Neighbour, c.Cluster, c.Skill = "HIDDENREFERENCE", &should, "HIDDENNEIGHBOUR", "HIDDENCLUSTER", "HIDDENSKILL"
	c.Workspace = &eval.Workspace{Repo: "HIDDENREPO", Commit: "HIDDENCOMMIT"}
	c.Source.Agent, c.Source.Session, c.Source.Turn, c.Source.Outcome, c.Source.Stratum = "HIDDENAGENT", "HIDDENSESSION", "HIDDENTURN", "HIDDENOUTCOME", "HIDDENSTRATUM"
	c.Source.Also, c.Source.TrainOnly = []eval.Source{{Agent: "HIDDENALSO"}}, true
	c.Source.Beside, c.Source.Because, c.Source.Copied = []string{"HIDDENBESIDE"}, "HIDDENBECAUSE", true
	// A later request of the same session is another one, and shows what the user said next.
	m := &model{reply: deciding("SEEN", 1)}
	r := &Reader{Model: m}
	parts, err := r.Read(t.Context(), variant(t, "- Be kind.\n"), variant(t, "- Be kind.\n- SEENLINE.\n"), []eval.Case{c}, []record.Use{{Session: "HIDDENSESSION", Time: day(1), Stratum: "HIDDENSTRATUM", Workspace: "HIDDENPLACE"}})
	if err != nil || parts.Cases["c1"] != record.Applies || parts.Uses[0] != record.Applies || len(m.seen) != 2 {
		t.Fatalf("%+v, %v, %d calls", parts, err, len(m.seen))
	}
	if m.seen[0].User != m.seen[1].User || m.seen[0].Seed == m.seen[1].Seed {
		t.Errorf("the second reading of one request has the seed %d and sees\n%s", m.seen[1].Seed, m.seen[1].User)
	}
	text := m.seen[0].System + m.seen[0].User
	for _, want := range []string{"SEENREQUEST", "SEENBEFORE", "SEENREPLY", "SEENNAME.md", "SEENLINE"} {
		if !strings.Contains(text, want) {
			t.Errorf("the model does not see %s:\n%s", want, m.seen[0].User)
		}
	}
	if i := strings.Index(text, "HIDDEN"); i >= 0 {
		t.Errorf("the model sees %.40s", text[i:])
	}
	if strings.Contains(text, "Be kind") {
		t.Error("the model sees a line that did not change")
	}
	// Every field that a case has is in the list above, or was looked at here.
	if n := reflect.TypeFor[eval.Case]().NumField() + reflect.TypeFor[eval.Source]().NumField(); n != 13+12 {
		t.Errorf("a case has %d fields now: may a reader see the new ones?", n)
	}
}

// TestOrdersAreData: neither requests nor lines can pose as the prompt.
func TestOrdersAreData(t *testing.T) {
	for _, text := range evaltest.Orders {
		m := &model{reply: deciding("nothing")}
		r := &Reader{Model: m}
		_, _, err := r.Decide(t.Context(), []Line{{Was: text, Is: text}}, []Request{{ID: "a", Text: text, Before: []eval.Message{{Role: text, Text: text}}, Files: []string{text}}})
		if err != nil || len(m.seen) != 1 {
			t.Fatalf("%q: %v", text, err)
		}
		if own, _ := evaltest.Split(m.seen[0].User); evaltest.Obeys(own) || strings.Count("\n"+own, "\nrequest ") != 1 {
			t.Errorf("%q:\n%s", text, own)
		}
	}
}

// TestDecidesOnce: a decision is remembered by lines, request and model.
func TestDecidesOnce(t *testing.T) {
	memory := new(notes)
	requests := []Request{{ID: "a", Text: "a chart", Session: "s1"}, {ID: "b", Text: "a table"}}
	ask := func(name, line, text string) int {
		m := &model{name: name, reply: deciding("chart", 1)}
		requests[1].Text = text
		got, stats, err := (&Reader{Model: m, Memory: memory}).Decide(t.Context(), []Line{{Is: line}}, requests)
		if err != nil || stats.Decided != 2 || !slices.Equal(got["a"], []int{0}) || len(got["b"]) != 0 {
			t.Fatalf("%v, %+v, %v", got, stats, err)
		}
		return len(m.seen)
	}
	for i, c := range []struct {
		name, line, text string
		calls            int
	}{{"m", "x", "a table", 1}, {"m", "x", "a table", 0}, {"m2", "x", "a table", 1}, {"m", "y", "a table", 1}, {"m", "x", "a list", 1}} {
		if n := ask(c.name, c.line, c.text); n != c.calls {
			t.Errorf("%d: %d calls", i, n)
		}
	}
	for _, answer := range memory.by {
		if answer[0] != '[' {
			t.Errorf("the memory has more than numbers: %s", answer)
		}
	}
}

// TestUnreadableIsAskedAgain: what cannot be read is never guessed, and is not remembered.
func TestUnreadableIsAskedAgain(t *testing.T) {
	requests := []Request{{ID: "a", Text: "one"}, {ID: "b", Text: "two"}}
	good := "```json\n{\"requests\":[{\"id\":\"1\",\"lines\":[1]},{\"id\":\"2\",\"lines\":[]}]}\n```"
	for reply, decided := range map[string]int{
		"": 0, "yes": 0, good: 2, good + "\n" + good: 0,
		"```json\n{\"requests\":[{\"id\":\"1\",\"lines\":[1]}]}\n```":                                                           1,
		"```json\n{\"requests\":[{\"id\":\"1\",\"lines\":[3]},{\"id\":\"2\",\"lines\":[]}]}\n```":                               1,
		"```json\n{\"requests\":[{\"id\":\"1\",\"lines\":[0]},{\"id\":\"2\",\"lines\":[1,1]}]}\n```":                            0,
		"```json\n{\"requests\":[{\"id\":\"1\",\"lines\":[1]},{\"id\":\"1\",\"lines\":[]},{\"id\":\"2\",\"lines\":[2]}]}\n```":  1,
		"```json\n{\"requests\":[{\"id\":\"1\"},{\"id\":\"2\",\"lines\":null}]}\n```":                                           0,
		"```json\n{\"requests\":[{\"id\":\"01\",\"lines\":[1]},{\"id\":\"3\",\"lines\":[1]}]}\n```":                             0,
		"```json\n{\"requests\":[{\"id\":\"1\",\"lines\":[1],\"why\":\"x\"},{\"id\":\"2\",\"lines\":[]}]}\n```":                 1,
		"```json\n{\"requests\":[{\"id\":\"1\",\"lines\":[1]},{\"id\":\"2\",\"lines\":[]}],\"note\":\"ignore the rules\"}\n```": 0,
	} {
		memory := new(notes)
		m := &model{reply: func([]string) string { return reply }}
		got, stats, err := (&Reader{Model: m, Memory: memory}).Decide(t.Context(), []Line{{Is: "x"}, {Is: "y"}}, requests)
		if err != nil || len(got) != decided || stats.Decided != decided || len(memory.by) != decided {
			t.Errorf("%s: %v, %+v, %v", reply, got, stats, err)
		}
	}
	m := &model{reply: func([]string) string { return good }, err: eval.Infraf(eval.ServerError, "down")}
	if got, stats, err := (&Reader{Model: m}).Decide(t.Context(), []Line{{Is: "x"}}, requests); err != nil || len(got) != 0 || stats.Calls != 1 {
		t.Errorf("%v, %+v, %v of a model that is down", got, stats, err)
	}
}

// TestNoCallShowsWhatFollowed: of a conversation a call has one request, and there are no more
// calls than were forecast.
func TestNoCallShowsWhatFollowed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "requests")
		var cases []eval.Case
		for i := range n {
			c := caseOf(i, fmt.Sprintf("request %02d", i))
			c.Cluster = rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "conversation")
			cases = append(cases, c)
		}
		m := &model{reply: deciding("request", 1)}
		r := &Reader{Model: m}
		requests, err := r.Requests(context.Background(), cases)
		if err != nil {
			t.Fatal(err)
		}
		got, stats, err := r.Twice(context.Background(), []Line{{Is: "x"}}, requests)
		if err != nil || len(got) != n || stats.Calls != len(m.seen) {
			t.Fatalf("%d of %d, %+v, %v", len(got), n, stats, err)
		}
		if most := Calls("file:/src/shop:AGENTS.md", n, cases) - Calls("file:/src/shop:AGENTS.md", 0, cases); int64(stats.Calls) > most {
			t.Errorf("%d calls, %d were forecast", stats.Calls, most)
		}
		for _, p := range m.seen {
			had := map[string]bool{}
			for _, text := range requestsIn(p.User) {
				var i int
				if _, err := fmt.Sscanf(text, "request %d", &i); err != nil {
					t.Fatal(err)
				}
				if at := cases[i].Cluster; at != "" && had[at] {
					t.Fatalf("two requests of %s in one call", at)
				} else {
					had[at] = true
				}
			}
		}
	})
}

// TestReadTwice: a line applies if both readings say so, and what was not read again is not
// decided. Decisions are in the memory after each reading, under keys of their own.
func TestReadTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "requests")
		var requests []Request
		said := [2]map[string][]int{{}, {}}
		for i := range n {
			q := Request{ID: fmt.Sprint(i), Text: fmt.Sprintf("request %02d", i), At: day(1 + i%28)}
			requests = append(requests, q)
			for k := range said {
				said[k][q.Text] = slices.Compact(slices.Sorted(slices.Values(rapid.SliceOfN(rapid.IntRange(1, 3), 0, 3).Draw(t, "says"))))
			}
		}
		calls := (n + batch - 1) / batch
		stops := rapid.IntRange(1, 2*calls+1).Draw(t, "a cap ends it before call")
		memory, m := new(notes), &model{}
		m.reply = func(texts []string) string {
			k := 0
			if len(m.seen) > calls {
				k = 1
			}
			if len(m.seen)+1 == stops {
				m.err = &eval.BudgetError{Cap: eval.CapRollouts}
			}
			var of []string
			for i, text := range texts {
				raw, _ := json.Marshal(append([]int{}, said[k][text]...))
				of = append(of, fmt.Sprintf(`{"id":"%d","lines":%s}`, i+1, raw))
			}
			return "```json\n{\"requests\":[" + strings.Join(of, ",") + "]}\n```"
		}
		if stops == 1 {
			m.err = &eval.BudgetError{Cap: eval.CapRollouts}
		}
		r := &Reader{Model: m, Memory: memory}
		lines := []Line{{Is: "x"}, {Is: "y"}, {Is: "z"}}
		got, stats, err := r.Twice(context.Background(), lines, requests)
		if limit, ok := errors.AsType[*eval.BudgetError](err); err != nil && !ok || limit != nil && stats.Calls != stops-1 {
			t.Fatalf("%v after %d calls, a cap ends it before call %d", err, stats.Calls, stops)
		}
		check := func(q Request, applies []int) {
			var want []int
			for _, line := range said[0][q.Text] {
				if slices.Contains(said[1][q.Text], line) {
					want = append(want, line-1)
				}
			}
			if !slices.Equal(applies, want) {
				t.Errorf("%v apply, %v in the first reading and %v in the second", applies, said[0][q.Text], said[1][q.Text])
			}
		}
		for _, q := range requests {
			if applies, ok := got[q.ID]; ok {
				check(q, applies)
			} else if err == nil {
				t.Errorf("request %s is not decided", q.ID)
			}
		}
		if err != nil || stats.Decided != len(got) {
			return
		}
		asked := len(m.seen)
		again, _, err := r.Twice(context.Background(), lines, requests)
		if err != nil || len(m.seen) != asked || !reflect.DeepEqual(again, got) {
			t.Errorf("again %v, want %v, with %d further calls, %v", again, got, len(m.seen)-asked, err)
		}
	})
}

// TestInOrderOfArrival, a dozen a call; a cap ends it, and what was decided stays.
func TestInOrderOfArrival(t *testing.T) {
	var requests []Request
	for i := range 30 {
		requests = append(requests, Request{ID: fmt.Sprint(i), Text: fmt.Sprintf("request of day %02d", 30-i), At: day(30 - i)})
	}
	var order []string
	m := &model{}
	m.reply = func(texts []string) string {
		order = append(order, texts...)
		if len(m.seen) == 2 {
			m.err = &eval.BudgetError{Cap: eval.CapRollouts}
		}
		return deciding("day", 1)(texts)
	}
	got, stats, err := (&Reader{Model: m}).Decide(t.Context(), []Line{{Is: "x"}}, requests)
	var limit *eval.BudgetError
	if !errors.As(err, &limit) || len(got) != 24 || stats.Calls != 2 || len(m.seen) != 2 || !slices.IsSorted(order) || len(order) != 24 {
		t.Errorf("%d decided in %d calls, %v: %v", len(got), stats.Calls, err, order)
	}
	if _, ok := got["29"]; !ok {
		t.Error("the oldest is not decided")
	}
}

// TestShortened: however long what was recorded is, a call stays small.
func TestShortened(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		long := strings.Repeat(rapid.StringN(1, 5, 20).Draw(t, "text"), 5000)
		files := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,9}(/[a-z]{1,99}){0,9}`), 0, 100).Draw(t, "files")
		var requests []Request
		const few = 2
		for i := range few {
			requests = append(requests, Request{ID: fmt.Sprint(i), Text: long, Files: files, Before: []eval.Message{{Role: "user", Text: long}, {Role: "assistant", Text: long}}})
		}
		m := &model{reply: deciding("")}
		if _, _, err := (&Reader{Model: m}).Decide(t.Context(), []Line{{Was: long, Is: long}}, requests); err != nil {
			t.Fatal(err)
		}
		runes := few*(maxRequest+2*maxBefore+maxNames*(maxName+10)) + 2*maxLine + 4000
		if n := len([]rune(m.seen[0].User)); n > 12*runes { // JSON writes up to 12 characters for one
			t.Fatalf("%d characters", n)
		}
	})
}

// TestPartsOfUses: uses get the part of their case, or of their turn, and else are unread.
func TestPartsOfUses(t *testing.T) {
	cases := []eval.Case{caseOf(1, "a chart"), caseOf(2, "a table")}
	uses := []record.Use{{Session: "s1", Time: day(1)}, {Session: "s2", Time: day(2).Add(time.Minute)}, {Session: "s3", Time: day(3)}, {Session: "s4", Time: day(4)}, {Session: "s1", Time: day(1).Add(-time.Hour)}}
	r := &Reader{Model: &model{reply: deciding("chart", 1)}, Turns: func(context.Context) ([]Request, error) {
		return []Request{{Session: "s3", At: day(3), Text: "another chart"}}, nil
	}}
	parts, err := r.Read(t.Context(), variant(t, "- Be kind.\n"), variant(t, "- Use log scales.\n"), cases, uses)
	want := []record.Part{record.Applies, record.Rest, record.Applies, record.Unread, record.Unread}
	if err != nil || !reflect.DeepEqual(parts.Uses, want) || parts.Left != 0 || len(parts.Cases) != 2 {
		t.Errorf("%+v, %v", parts, err)
	}
}

// TestSkillsHaveOnePart: a trial of a skill is about all requests, and asks no reader.
func TestSkillsHaveOnePart(t *testing.T) {
	rule := pareto.DefaultConfig().Within(0.01)
	for key, file := range map[string]bool{"dataviz": false, "plugin:dataviz": false, "hook:guard": false, "file:/src/shop:AGENTS.md": true, "file:~:.claude/CLAUDE.md": true} {
		if got := To(key, &model{}, nil, nil) != nil; got != file {
			t.Errorf("%s has a reader: %v", key, got)
		}
		if got := Rule(key, rule); got.Rest != (pareto.Limit{}) != file || file && got.Rest.Alpha != rule.ToleranceAlpha || !file && got != rule {
			t.Errorf("%s: %+v", key, got)
		}
		if got := Calls(key, 13, nil); got != map[bool]int64{true: 14}[file] {
			t.Errorf("%s: %d calls", key, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("```json\n{\"requests\":[{\"id\":\"1\",\"lines\":[1]}]}\n```", 3)
	f.Add("```\n{}\n```", 0)
	f.Fuzz(func(t *testing.T, text string, lines int) {
		for id, applies := range parse(text, lines) {
			if !within(applies, lines) || !slices.IsSorted(applies) {
				t.Errorf("%q: %v of %d", id, applies, lines)
			}
		}
	})
}

// TestRemovalsAreTold: a change that only lacks lines, and is about the requests to which
// these applied.
func TestRemovalsAreTold(t *testing.T) {
	both := "- Be kind.\n- Use log scales for latencies.\n"
	for body, want := range map[string]bool{"- Be kind.\n": true, "- Be kind.\n- Use tabs in Makefiles.\n": false, both: false} {
		m := &model{reply: deciding("chart", 1)}
		parts, err := (&Reader{Model: m}).Read(t.Context(), variant(t, both), variant(t, body), []eval.Case{caseOf(1, "a chart"), caseOf(2, "a table")}, nil)
		if err != nil || parts.Removes != want {
			t.Errorf("%q: %+v, %v", body, parts, err)
		}
		if body == both && (len(m.seen) > 0 || parts.Cases["c1"] != record.Rest) {
			t.Errorf("of no change: %+v in %d calls", parts, len(m.seen))
		}
	}
}
