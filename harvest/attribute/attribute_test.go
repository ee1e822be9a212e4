package attribute_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/attribute"
	"github.com/skill-evolve/evolve/harvest/claude"
	"github.com/skill-evolve/evolve/harvest/codex"
	"github.com/skill-evolve/evolve/harvest/harvesttest"
)

var quote = harvesttest.Quote

// texts are two skills that are used together.
var texts = map[string]string{
	"chart":  "Draw charts of tables. Label each axis with its unit, and put the legend below the plot.",
	"slides": "Make slides of text. Write one headline for each slide, and end with a summary page.",
}

// inClaude is a session of Claude Code: a request, what is loaded in each step, and what
// the user answered.
func inClaude(t *testing.T, reply string, steps ...[]string) *harvest.Session {
	const tail = `"timestamp":"2026-11-20T18:14:45.571Z","entrypoint":"cli","cwd":"/home/dev/project","sessionId":"s1"}`
	typed := func(id, text string) string {
		return `{"isSidechain":false,"promptId":"` + id + `","type":"user","message":{"role":"user","content":` + quote(text) + `},"uuid":"` + id + `","promptSource":"typed",` + tail
	}
	lines := []string{typed("p1", "Make slides with a chart of the revenue")}
	for _, step := range steps {
		var results []string
		for _, name := range step {
			lines = append(lines, `{"isSidechain":false,"message":{"id":"m`+name+`","content":[{"type":"tool_use","id":"`+name+`","name":"Skill","input":{"skill":"`+name+`"}}]},"type":"assistant","uuid":"a`+name+`",`+tail)
			results = append(results, `{"isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"`+name+`","type":"tool_result","content":"ok"}]},"uuid":"r`+name+`","toolUseResult":{},`+tail)
		}
		lines = append(lines, results...)
	}
	lines = append(lines, `{"isSidechain":false,"message":{"id":"m9","content":[{"type":"text","text":"Five slides with a chart are in deck.md"}]},"type":"assistant","uuid":"a9",`+tail, typed("p2", reply))
	s, problems := harvesttest.Read(t, claude.Kind, "s1.jsonl", lines...)
	return checked(t, s, problems)
}

// inCodex is such a session of Codex.
func inCodex(t *testing.T, reply string, steps ...[]string) *harvest.Session {
	record := func(kind, payload string) string {
		return `{"timestamp":"2026-11-20T17:54:09.254Z","type":"` + kind + `","payload":` + payload + `}`
	}
	typed := func(task, text string) string {
		return record("response_item", `{"type":"message","id":"`+task+`","role":"user","content":[{"type":"input_text","text":`+quote(text)+
			`}],"internal_chat_message_metadata_passthrough":{"turn_id":"`+task+`","content_item_kinds":["user.text"]}}`)
	}
	lines := []string{record("session_meta", `{"id":"s1","cwd":"/home/dev/project","originator":"codex_cli_rs","source":"cli"}`), typed("t1", "Make slides with a chart of the revenue")}
	for _, step := range steps {
		var results []string
		for _, name := range step {
			lines = append(lines, record("response_item", `{"type":"function_call","name":"exec_command","arguments":`+quote(`{"cmd":"cat /home/dev/.agents/skills/`+name+`/SKILL.md"}`)+`,"call_id":"`+name+`"}`))
			results = append(results, record("response_item", `{"type":"function_call_output","call_id":"`+name+`","output":`+quote("Process exited with code 0\nOutput:\n---\nname: "+name+"\n---\n")+`}`))
		}
		lines = append(lines, results...)
	}
	lines = append(lines, record("response_item", `{"type":"message","id":"m9","role":"assistant","content":[{"type":"output_text","text":"Five slides with a chart are in deck.md"}]}`), typed("t2", reply))
	s, problems := harvesttest.Read(t, codex.Kind, "rollout-x.jsonl", lines...)
	return checked(t, s, problems)
}

func checked(t *testing.T, s *harvest.Session, problems []harvest.Problem) *harvest.Session {
	t.Helper()
	if s == nil || len(problems) > 0 || len(s.Turns) != 2 {
		t.Fatalf("%+v %v", s, problems)
	}
	for i := range s.Invocations {
		if v := &s.Invocations[i]; v.Feedback.Label != harvest.Corrected {
			t.Fatalf("%s is labelled %s: this test needs a correction", v.Skill, v.Feedback.Label)
		}
	}
	return s
}

func finder() *attribute.Finder {
	return &attribute.Finder{Text: func(name string) string { return texts[name] }}
}

// mine returns the cases of both skills, and what was counted.
func mine(t *testing.T, f *attribute.Finder, s *harvest.Session) (of []string, because string, elsewhere, none int) {
	t.Helper()
	for _, name := range []string{"chart", "slides"} {
		cases, stats, err := harvest.Mine(context.Background(), []*harvest.Session{s}, name, harvest.Miner{Attribute: f.Of})
		if err != nil {
			t.Fatal(err)
		}
		elsewhere, none = elsewhere+stats.Elsewhere, none+stats.Unattributed
		for _, c := range cases {
			of, because = append(of, c.Skill), c.Source.Because
			if want := map[string]string{"chart": "slides", "slides": "chart"}[name]; !slices.Equal(c.Source.Beside, []string{want}) {
				t.Errorf("the case of %s says that %v was loaded beside it", name, c.Source.Beside)
			}
		}
	}
	return of, because, elsewhere, none
}

func TestOneCase(t *testing.T) {
	step := func(names ...string) []string { return names }
	apart, swapped, together := [][]string{step("chart"), step("slides")}, [][]string{step("slides"), step("chart")}, [][]string{step("chart", "slides")}
	for name, c := range map[string]struct {
		reply   string
		steps   [][]string
		of, why string // "" for none
	}{
		"named":                 {"No, the chart skill says otherwise: one headline and a summary page", apart, "chart", "the correction names it"},
		"named by its command":  {"no, that is wrong: /slides should have done it", swapped, "slides", "the correction names it"},
		"both named":            {"No, neither the chart skill nor the slides skill was followed", apart, "slides", "it was loaded last"},
		"words":                 {"No, that is wrong. The axis has no unit, and the legend is missing", apart, "chart", "3 words of the correction are in its text alone"},
		"words, loaded at once": {"No, that is wrong. The headline is not a summary of its page", together, "slides", "3 words of the correction are in its text alone"},
		"words of both":         {"No, that is wrong. The legend is too long for its headline", swapped, "chart", "it was loaded last"},
		"last":                  {"No, that is wrong. Use blue", apart, "slides", "it was loaded last"},
		"first":                 {"No, that is wrong. Use blue", swapped, "chart", "it was loaded last"},
		"not clear":             {"No, that is wrong. Use blue", together, "", ""},
	} {
		for agent, session := range map[string]func(*testing.T, string, ...[]string) *harvest.Session{"claude": inClaude, "codex": inCodex} {
			t.Run(name+"/"+agent, func(t *testing.T) {
				of, why, elsewhere, none := mine(t, finder(), session(t, c.reply, c.steps...))
				if c.of == "" {
					if len(of) > 0 || elsewhere != 0 || none != 2 {
						t.Errorf("cases of %v; %d elsewhere, %d of none", of, elsewhere, none)
					}
					return
				}
				if !slices.Equal(of, []string{c.of}) || why != c.why || elsewhere != 1 || none != 0 {
					t.Errorf("cases of %v because %q; %d elsewhere, %d of none", of, why, elsewhere, none)
				}
			})
		}
	}
}

// What a model has read counts before the words do.
func TestReading(t *testing.T) {
	s := inClaude(t, "No, that is wrong. The axis has no unit, and the legend is missing", []string{"chart"}, []string{"slides"})
	s.Turns[0].Reading = &harvest.Reading{Label: harvest.Corrected, Words: "The axis has no unit", Reply: 1, Concerns: "skill:slides", Rule: "Each slide shows units", By: "model"}
	if of, why, _, _ := mine(t, finder(), s); !slices.Equal(of, []string{"slides"}) || why != "the correction was read as one of its text" {
		t.Errorf("%v because %q", of, why)
	}
}

// What was decided once is not decided again: the texts have changed since.
func TestDecidedOnce(t *testing.T) {
	s := inClaude(t, "No, that is wrong. The axis has no unit, and the legend is missing", []string{"chart"}, []string{"slides"})
	f := finder()
	id, _ := harvest.CaseOf(s, s.Invocations[1])
	f.Has = func(name, of string) (bool, error) { return name == "slides" && of == id, nil }
	if of, _, elsewhere, _ := mine(t, f, s); !slices.Equal(of, []string{"slides"}) || elsewhere != 1 {
		t.Errorf("%v", of)
	}
}

// Two names of one file are one skill, and what cannot be read has no words.
func TestOtherNames(t *testing.T) {
	s := inClaude(t, "No, that is wrong. The axis has no unit, and the legend is missing", []string{"chart"}, []string{"slides"})
	f := finder()
	f.Own = func(name string) string { return map[string]string{"slides": "chart"}[name] }
	if _, ok, err := f.Of(s, s.Invocations[0], []int{1}); ok || err != nil {
		t.Errorf("an alias is another skill: %v", err)
	}
	f = finder()
	f.Text = func(name string) string { return map[string]string{"chart": texts["chart"]}[name] }
	if of, why, _, _ := mine(t, f, s); !slices.Equal(of, []string{"slides"}) || why != "it was loaded last" {
		t.Errorf("%v because %q", of, why)
	}
}

func TestNames(t *testing.T) {
	for text, want := range map[string]bool{
		"the chart skill": true, "der Chart-Skill": true, "the skill chart": true, "use `chart`": true, "/chart again": true, "$chart": true, "Skill „chart“": true,
		"the chart is wrong": false, "charts skill": false, "/charts": false, "path/chart.svg": false, "": false, "chart": false,
	} {
		if got := attribute.Names(text, "chart"); got != want {
			t.Errorf("%q names the skill: %v", text, got)
		}
	}
	for text, want := range map[string]bool{"as release-notes says": true, "your release notes lack it": true, "release the notes": false, "prerelease-notes": false} {
		if got := attribute.Names(text, "team:release-notes"); got != want {
			t.Errorf("%q names the skill: %v", text, got)
		}
	}
	rapid.Check(t, func(rt *rapid.T) { // no name is a pattern
		name := rapid.String().Draw(rt, "name")
		attribute.Names(rapid.String().Draw(rt, "text"), name)
	})
}

func TestByWords(t *testing.T) {
	long := texts["slides"] + strings.Repeat(" alpha beta gamma delta epsilon zeta theta iota kappa lambda omicron sigma upsilon omega", 1)
	for name, c := range map[string]struct {
		correction string
		texts      []string
		want       int
	}{
		"a rule":                     {"the axis lacks a unit, the legend too", []string{texts["chart"], texts["slides"]}, 0},
		"two words":                  {"the axis lacks a unit", []string{texts["chart"], texts["slides"]}, -1},
		"two words of a short text":  {"the axis lacks a unit", []string{"axis unit", long}, 0},
		"three words of a long text": {"alpha beta gamma", []string{"axis unit", long}, -1},
		"equal texts":                {"the axis lacks a unit, the legend too", []string{texts["chart"], texts["chart"]}, -1},
		"an unknown text":            {"the axis lacks a unit, the legend too", []string{texts["chart"], ""}, -1},
		"nothing":                    {"", []string{texts["chart"], texts["slides"]}, -1},
	} {
		if got, _ := attribute.ByWords(c.correction, c.texts); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// The order of the skills decides nothing.
func TestOrder(t *testing.T) {
	word := rapid.SampledFrom(strings.Fields(texts["chart"] + " " + texts["slides"]))
	rapid.Check(t, func(rt *rapid.T) {
		some := func(name string) string {
			return strings.Join(rapid.SliceOfN(word, 1, 12).Draw(rt, name), " ")
		}
		said, a, b := some("said"), some("a"), some("b")
		i, n := attribute.ByWords(said, []string{a, b})
		k, m := attribute.ByWords(said, []string{b, a})
		if i >= 0 != (k >= 0) || i >= 0 && (i != 1-k || n != m) {
			rt.Fatalf("%d of %d words, swapped %d of %d", i, n, k, m)
		}
	})
}
