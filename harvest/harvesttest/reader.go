package harvesttest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
)

// Quote is a text as JSON.
func Quote(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Read reads the lines of a transcript of that name; every skill exists.
func Read(t testing.TB, k harvest.Kind, file string, lines ...string) (*harvest.Session, []harvest.Problem) {
	t.Helper()
	s, problems, err := k.Read(context.Background(), strings.NewReader(strings.Join(lines, "\n")+"\n"), file, harvest.Options{Exists: func(string) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	return s, problems
}

// Summary is the turns of a session on one line: each prompt, its answer and its tools.
func Summary(s *harvest.Session) string {
	if s == nil {
		return ""
	}
	var out []string
	for _, turn := range s.Turns {
		text := turn.Prompt + " > " + turn.Answer
		for _, tool := range turn.Tools {
			text += " [" + tool.Name
			if tool.Failed {
				text += " failed"
			}
			text += "]"
		}
		out = append(out, text)
	}
	return strings.Join(out, " | ")
}

// Uses are the uses of skills in a session: each with its signal, folder and id.
func Uses(s *harvest.Session) (text string) {
	for _, v := range s.Invocations {
		text += fmt.Sprintf("%s %s %s %s", v.Skill, v.Signal, v.Dir, v.ID)
	}
	return text
}

// Home writes files, by their names in an agent's home, and returns the sessions in it.
func Home(t testing.TB, k harvest.Kind, files map[string]string) []*harvest.Session {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var all []*harvest.Session
	problems, err := k.Source(dir, harvest.Options{}).Sessions(t.Context(), nil, func(s *harvest.Session) error {
		all = append(all, s)
		return nil
	})
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	return all
}

// Fuzz reads anything, from these transcripts on: nothing in one is an error, and a session
// can be stored.
func Fuzz(f *testing.F, k harvest.Kind, file string, transcripts ...string) {
	for _, text := range transcripts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, _, err := k.Read(context.Background(), strings.NewReader(string(data)), file, harvest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s != nil {
			if _, err := json.Marshal(s); err != nil {
				t.Fatal(err)
			}
		}
	})
}
