package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/claude"
	"github.com/skill-evolve/evolve/harvest/work"
	"github.com/skill-evolve/evolve/store"
)

// TestEarlierActs: a session that goes on keeps the acts that it had, though less is kept of
// what its agent does now; what they hold is hidden as in a session that is read whole.
func TestEarlierActs(t *testing.T) {
	for level, want := range map[work.Level]string{
		work.Off:      "ran deploy --to [x] now|changed a.txt one|; ",
		work.Commands: "ran deploy --to [x] now|changed a.txt one|; ran make|",
		work.All:      "ran deploy --to [x] now|changed a.txt one|; ran make|changed a.txt two|",
	} {
		t.Run(level.String(), func(t *testing.T) {
			secret := "correct" + "horse-9" + "battery"
			g, home := person(t), t.TempDir()
			var lines []string
			add := func(kind string, fields obj) {
				all := obj{"type": kind, "uuid": fmt.Sprint("u", len(lines)), "timestamp": at(len(lines)), "sessionId": "s1", "cwd": "/home/dev/project", "userType": "external", "version": "2.1.329", "entrypoint": "cli"}
				for k, v := range fields {
					all[k] = v
				}
				b, err := json.Marshal(all)
				if err != nil {
					t.Fatal(err)
				}
				lines = append(lines, string(b))
			}
			turn := func(prompt, command, text string) {
				n := len(lines)
				add("user", obj{"promptId": fmt.Sprint("p", n), "promptSource": "typed", "message": obj{"role": "user", "content": prompt}})
				for i, input := range []obj{{"command": command}, {"file_path": "/home/dev/project/a.txt", "content": text}} {
					id := fmt.Sprint("c", n, i)
					add("assistant", obj{"message": obj{"id": "m" + id, "role": "assistant", "model": "m", "content": []any{obj{"type": "tool_use", "id": id, "name": []string{"Bash", "Write"}[i], "input": input}}}})
					add("user", obj{"message": obj{"role": "user", "content": []any{obj{"type": "tool_result", "tool_use_id": id, "content": "ok"}}}, "toolUseResult": obj{}})
				}
				add("assistant", obj{"message": obj{"id": fmt.Sprint("m", n), "role": "assistant", "model": "m", "content": []any{obj{"type": "text", "text": "Done."}}}})
			}
			harvest := func(o harvest.Options) *harvest.Session {
				t.Helper()
				path := filepath.Join(home, "projects", "-home-dev-project", "s1.jsonl")
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600)); err != nil {
					t.Fatal(err)
				}
				o.Redactor = g.Redactor
				if r, err := g.Harvest(t.Context(), []Source{{claude.Kind.Source(home, o), home}}, false, func() {}); err != nil || r.Sessions != 1 || len(r.Problems) > 0 {
					t.Fatalf("%+v, %v", r, err)
				}
				all, err := g.Store.Sessions(t.Context(), store.SessionFilter{ID: "s1", Work: true})
				if err != nil || len(all) != 1 {
					t.Fatal(all, err)
				}
				return &all[0]
			}
			turn("deploy it", "deploy --to "+secret+" now", "one")
			if s := harvest(harvestAll); len(s.Turns[0].Work) != 2 || !strings.Contains(s.Turns[0].Work[0].Line, secret) {
				t.Fatalf("before the second prompt it is no secret: %+v", s.Turns)
			}
			turn("thanks; the password is "+secret, "make", "two")
			o := harvestAll
			o.Moments, o.Earlier = level, EarlierActs(t.Context(), g.Store, level)
			s := harvest(o)
			got := ""
			for i, turn := range s.Turns {
				if i > 0 {
					got += "; "
				}
				for _, a := range turn.Work {
					got += string(a.Kind) + " " + a.Line + strings.TrimSuffix(a.File+" "+a.Added, " ") + "|"
				}
			}
			from, to := strings.Index(got, "["), strings.Index(got, "]")
			if from < 0 || to < from {
				t.Fatalf("nothing is hidden in %s", got)
			}
			if got = got[:from] + "[x]" + got[to+1:]; got != want {
				t.Errorf("kept\n%s\nwant\n%s", got, want)
			}
		})
	}
}

var harvestAll = harvest.Options{Moments: work.All}
