package orders

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/shell/sought"
)

// A model gives one reply.
type model struct {
	reply, finish string
	asked         []string
}

func (*model) Identity() eval.Identity { return eval.Identity{Backend: "model"} }

func (m *model) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	m.asked = append(m.asked, p.User)
	return eval.Completion{Text: m.reply, Finish: m.finish}, nil
}

type memory map[string][]byte

func (m memory) Recall(_ context.Context, key string) ([]byte, error) { return m[key], nil }

func (m memory) Remember(_ context.Context, session, key string, answer []byte) error {
	m[key] = answer
	m["of "+session] = answer
	return nil
}

func question() *Question {
	return &Question{Session: "s", Rule: "Lint before you commit", Words: []string{"lint fails, token ghp_" + strings.Repeat("a1B2", 9)}, Commands: []Command{{"make lint", 3}, {"git commit", 2}}}
}

func fence(text string) string { return "```json\n" + text + "\n```" }

func TestRead(t *testing.T) {
	for reply, want := range map[string]*Order{
		`{"order":{"steps":[["make lint"]],"before":["git commit","stop"],"files":["*.go"]}}`: {[][]string{{"make lint"}}, []string{"git commit", "stop"}, []string{"*.go"}},
		`{"order":null}`: nil,
		`{"order":{"steps":[["make test"]],"before":["stop"],"files":[]}}`:             nil, // nobody ran it
		`{"order":{"steps":[["make lint"]],"before":["git push"],"files":[]}}`:         nil,
		`{"order":{"steps":[[]],"before":["stop"],"files":[]}}`:                        nil,
		`{"order":{"steps":[["make lint"]],"before":[],"files":[]}}`:                   nil,
		`{"order":{"steps":[["make lint"]],"before":["stop"],"files":[]},"more":true}`: nil,
	} {
		m, mem := &model{reply: fence(reply)}, memory{}
		for i := range 2 { // the second time it is remembered
			q := question()
			stats, err := Reader{Model: m, Memory: mem}.Read(t.Context(), []*Question{q})
			if err != nil || !reflect.DeepEqual(q.Order, want) || stats != (Stats{Calls: 1 - i}) {
				t.Errorf("%s: %+v, %+v, %v", reply, q.Order, stats, err)
			}
		}
		if len(m.asked) != 1 || strings.Contains(m.asked[0], "ghp_") || mem["of s"] == nil {
			t.Errorf("asked %q", m.asked)
		}
	}
	if stats, err := (Reader{}).Read(t.Context(), []*Question{question()}); err != nil || stats != (Stats{Open: 1}) {
		t.Errorf("%+v, %v", stats, err)
	}
	cut := question()
	if _, err := (Reader{Model: &model{reply: fence(`{"order":{"steps":[["make lint"]],"before":["stop"],"files":[]}}`), finish: "length"}}).Read(t.Context(), []*Question{cut}); err != nil || cut.Order != nil {
		t.Errorf("a reply that was cut: %+v, %v", cut.Order, err)
	}
}

func TestCommands(t *testing.T) {
	lines := []string{"cd x && mise run lint --fix", "git -C y commit", "go test ./... | tail", "make", "$X lint", "make"}
	got := Commands([][]string{lines, append(lines, "once")})
	want := []Command{{"git", 2}, {"go test", 2}, {"make", 2}, {"mise run", 2}, {"mise run lint", 2}, {"tail", 2}}
	have := []Command{}
	for _, c := range got {
		if c.Text != "cd" && c.Text != "cd x" {
			have = append(have, c)
		}
	}
	if !reflect.DeepEqual(have, want) {
		t.Errorf("%v", got)
	}
}

// Whatever a model replies, an order has only commands that were shown, and can be looked for.
func FuzzAccept(f *testing.F) {
	f.Add(fence(`{"order":{"steps":[["make lint"]],"before":["git commit"],"files":["*.go"]}}`))
	f.Add(fence(`{"order":{"steps":[["rm"]],"before":["stop"],"files":null}}`))
	f.Fuzz(func(t *testing.T, reply string) {
		q := question()
		if q.accept(reply); q.Order == nil {
			return
		}
		for _, step := range q.Order.Steps {
			for _, c := range step {
				if _, err := sought.Parse(c); err != nil || c != "make lint" && c != "git commit" {
					t.Errorf("%q: %q", reply, c)
				}
			}
		}
		if _, err := json.Marshal(q.Order); err != nil || len(q.Order.Steps)*len(q.Order.Before) == 0 {
			t.Errorf("%q: %+v, %v", reply, q.Order, err)
		}
	})
}
