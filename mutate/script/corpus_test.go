package script

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The corpora were written for this test by somebody who had not seen the rules: nine
// hooks (testdata/parents), changes that let a hook do more or guard less, and changes
// that do not. Nothing in testdata is ever run.
func corpus(t *testing.T, kind string, each func(name, about string, found []Finding)) {
	t.Helper()
	table, err := os.ReadFile(filepath.Join("testdata", kind+".tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		if cells[0] == "file" {
			continue
		}
		read := func(folder, name string) []byte {
			text, err := os.ReadFile(filepath.Join("testdata", folder, name))
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		parent := read("parents", cells[1])
		found, err := Check(t.Context(), parent, read(kind, cells[0]), Of(parent, cells[1]))
		if err != nil {
			t.Fatalf("%s: %v", cells[0], err)
		}
		each(cells[0], cells[len(cells)-1], found)
	}
}

func rules(found []Finding) string {
	var out []string
	for _, f := range found {
		out = append(out, f.Rule+"("+f.Phrase+")")
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

func TestWidening(t *testing.T) {
	t.Parallel()
	n := 0
	corpus(t, "widening", func(name, about string, found []Finding) {
		n++
		if len(found) == 0 {
			t.Errorf("%s passes: it %s", name, about)
		}
		if testing.Verbose() {
			t.Logf("%s: %s", name, rules(found))
		}
	})
	if n < 100 {
		t.Errorf("only %d mutants", n)
	}
}

func TestHarmlessCorpus(t *testing.T) {
	t.Parallel()
	held := 0
	corpus(t, "harmless", func(name, about string, found []Finding) {
		if len(found) > 0 {
			held++
			t.Logf("%s is held (%s): %s", name, about, rules(found))
		}
	})
	if held > 2 {
		t.Errorf("%d harmless changes are held; at most 2 may be", held)
	}
}
