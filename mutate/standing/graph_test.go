package standing_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/skill-evolve/evolve/mutate/standing"
	"pgregory.net/rapid"
)

func TestGraph(t *testing.T) {
	on := build(t, scene{files: map[string]string{
		"CLAUDE.md":     "See @docs/a.md and @gone/b.md. Ask @somebody.\n",
		"docs/a.md":     "@b.md\n",
		"docs/b.md":     "@../CLAUDE.md, @a.md\n",
		"docs/alone.md": "@alone.md\n",
	}})
	var got []string
	for _, i := range standing.Graph(on.path("CLAUDE.md")) {
		from, _ := filepath.Rel(on.repo, i.From)
		to, _ := filepath.Rel(on.repo, i.To)
		got = append(got, fmt.Sprintf("%d %s → %s back %t gone %t", i.Hops, from, to, i.Back, i.Gone))
	}
	want := []string{
		"1 CLAUDE.md → docs/a.md back false gone false",
		"2 docs/a.md → docs/b.md back false gone false",
		"3 docs/b.md → CLAUDE.md back true gone false",
		"3 docs/b.md → docs/a.md back true gone false",
		"1 CLAUDE.md → gone/b.md back false gone true",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("imports\n%q, want\n%q", got, want)
	}
	if g := standing.Graph(on.path("docs/alone.md")); len(g) != 1 || !g[0].Back {
		t.Errorf("a file that imports itself: %+v", g)
	}
}

// Whatever files import, each is followed once, and what leads back is told apart from what
// leads on: without the imports that lead back there is no cycle.
func TestGraphEnds(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "files")
		for i := range n {
			text := ""
			for _, to := range rapid.SliceOfN(rapid.IntRange(0, n), 0, 4).Draw(t, "imports") {
				text += fmt.Sprintf("@%d.md\n", to)
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.md", i)), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_ = os.Remove(filepath.Join(dir, fmt.Sprintf("%d.md", n)))
		onward := map[string][]string{}
		for _, i := range standing.Graph(filepath.Join(dir, "0.md")) {
			if filepath.Base(i.To) == fmt.Sprintf("%d.md", n) != i.Gone {
				t.Fatalf("%+v", i)
			}
			if !i.Back {
				onward[i.From] = append(onward[i.From], i.To)
			}
		}
		var walk func(at string, depth int)
		walk = func(at string, depth int) {
			if depth > n {
				t.Fatalf("%v goes round", onward)
			}
			for _, to := range onward[at] {
				walk(to, depth+1)
			}
		}
		walk(filepath.Join(dir, "0.md"), 0)
	})
}
