package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/claude"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// A correction of a turn with two skills becomes a case of one of them, whichever is mined
// first, and stays its case when the texts change.
func TestOneOfTwoSkills(t *testing.T) {
	g, dir := person(t), t.TempDir()
	g.Layout = &skill.Layout{ClaudeHome: dir, Getenv: func(string) string { return "" }}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := func(name, body string) {
		t.Helper()
		write("skills/"+name+"/SKILL.md", "---\nname: "+name+"\ndescription: makes "+name+"\n---\n\n# "+name+"\n\n"+body+"\n")
	}
	const rule, other = "Label each axis with its unit and put the legend below the plot.", "Write one headline for each slide and close on a summary page."
	text("chart", rule)
	text("slides", other)
	typed := func(id, said string) string {
		return `{"isSidechain":false,"promptId":"` + id + `","type":"user","message":{"role":"user","content":"` + said + `"},"uuid":"` + id + `","promptSource":"typed","timestamp":"2026-11-20T18:14:45.571Z","entrypoint":"cli","cwd":"/w","sessionId":"s1"}`
	}
	did := func(id, content string) string {
		return `{"isSidechain":false,"message":{"id":"` + id + `","content":[` + content + `]},"type":"assistant","uuid":"` + id + `","timestamp":"2026-11-20T18:14:46.571Z","cwd":"/w","sessionId":"s1"}`
	}
	loads := func(name string) string {
		return `{"type":"tool_use","id":"t` + name + `","name":"Skill","input":{"skill":"` + name + `"}}`
	}
	write("projects/-w/s1.jsonl", strings.Join([]string{typed("p1", "Make slides with a chart of the revenue"), did("a1", loads("chart")), did("a2", loads("slides")),
		did("a3", `{"type":"text","text":"The slides are in deck.md"}`), typed("p2", "No, that is wrong. The axis has no unit, and the legend is missing")}, "\n")+"\n")
	src := claude.Kind.Source(dir, harvest.Options{Redactor: g.Redactor, Exists: func(string) bool { return true }})
	if _, err := g.Harvest(t.Context(), []Source{{src, dir}}, false, func() {}); err != nil {
		t.Fatal(err)
	}
	g.Now = time.Now
	for _, order := range [][]string{{"chart", "slides"}, {"slides", "chart"}} {
		for _, name := range order {
			_, stats, err := g.Mine(t.Context(), name, Mining{})
			if err != nil || stats.Corrected+stats.Known != 1 {
				t.Fatalf("%s: %+v, %v", name, stats, err)
			}
			if name == "slides" && stats.Elsewhere != 1 {
				t.Errorf("%s: %d corrections are of another skill", name, stats.Elsewhere)
			}
		}
		cases, err := g.Store.Cases(t.Context(), "")
		if err != nil || len(cases) != 1 || cases[0].Skill != "chart" || !slices.Equal(cases[0].Source.Beside, []string{"slides"}) || cases[0].Source.Because == "" {
			t.Fatalf("%+v, %v", cases, err)
		}
		text("chart", other) // now the words would say otherwise
		text("slides", rule)
	}
}
