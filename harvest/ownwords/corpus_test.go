package ownwords

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// corpora are messages of which is known what of them was typed, by the name of their
// file, and how many of them Of reads right: it may do better, and must not do worse.
var corpora = map[string]int{"own-develop": 57, "own-held": 54, "own-hard": 45, "own-alike": 112, "pasted-develop": 38, "pasted-held": 39, "pasted-hard": 18, "pasted-alike": 35}

type message struct {
	name, text string
	own        []string // words that are the person's
}

var ownMark = regexp.MustCompile(`(?s)⟦(.*?)⟧`)

func messages(t testing.TB, corpus string) []message {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", corpus+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	var out []message
	for _, f := range a.Files {
		text := strings.TrimSuffix(string(f.Data), "\n")
		m := message{name: f.Name, text: strings.NewReplacer("⟦", "", "⟧", "").Replace(text)}
		for _, own := range ownMark.FindAllStringSubmatch(text, -1) {
			m.own = append(m.own, own[1])
		}
		if m.own == nil && !strings.Contains(text, "ZZZ") {
			m.own = []string{text}
		}
		out = append(out, m)
	}
	return out
}

func TestCorpora(t *testing.T) {
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	for corpus, least := range corpora {
		all, right := messages(t, corpus), 0
		for _, m := range all {
			own := words(Of(m.text))
			ok := !strings.Contains(own, "ZZZ")
			for _, s := range m.own {
				ok = ok && strings.Contains(own, words(s))
			}
			if ok {
				right++
			} else {
				t.Logf("%s: %s: %q", corpus, m.name, own)
			}
		}
		if right < least {
			t.Errorf("%s: %d of %d messages are read right, at least %d are expected", corpus, right, len(all), least)
		}
	}
}
