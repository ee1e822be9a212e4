package harvest

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestTypedCorpus measures how well Own separates what people type from what they
// paste, on messages of which it is known. One half of each corpus was not looked at
// while the code was written. The floors are what was measured: Own may do better,
// and must not do worse.
func TestTypedCorpus(t *testing.T) {
	mark := regexp.MustCompile(`(?s)⟦(.*?)⟧`)
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	for name, floor := range map[string]int{"own-develop": 57, "own-held": 54, "pasted-develop": 38, "pasted-held": 40, "own-hard": 41, "pasted-hard": 18} {
		corpus, err := txtar.ParseFile(filepath.Join("testdata", "typed", name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		right := 0
		for _, f := range corpus.Files {
			text := strings.TrimSuffix(string(f.Data), "\n")
			var typed []string
			for _, m := range mark.FindAllStringSubmatch(text, -1) {
				typed = append(typed, m[1])
			}
			text = strings.NewReplacer("⟦", "", "⟧", "").Replace(text)
			if typed == nil && !strings.Contains(text, "ZZZ") {
				typed = []string{text}
			}
			own := words(Own(text))
			ok := !strings.Contains(own, "ZZZ")
			for _, s := range typed {
				ok = ok && strings.Contains(own, words(s))
			}
			if ok {
				right++
			} else {
				t.Logf("%s: %s: %q", name, f.Name, own)
			}
		}
		t.Logf("%s: %d of %d", name, right, len(corpus.Files))
		if right < floor {
			t.Errorf("%s: %d of %d messages are read right, at least %d are expected", name, right, len(corpus.Files), floor)
		}
	}
}
