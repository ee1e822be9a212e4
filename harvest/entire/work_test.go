package entire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/entire"
	"github.com/skill-evolve/evolve/harvest/work"
)

// workOf is what is kept of the agent's work in a session, as JSON.
func workOf(t *testing.T, s *harvest.Session) string {
	t.Helper()
	var all []work.Act
	for _, turn := range s.Turns {
		all = append(all, turn.Work...)
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestWork(t *testing.T) {
	key := "ghp_" + strings.Repeat("a1B2", 9) // a secret that is known by its form
	password := "zk4" + "Vq9tLw2" + "mXe7"    // and one that only the words around it tell
	bash := func(use, line string) string {
		return `{"type":"assistant","timestamp":"` + at(11) + `","message":{"id":"m` + use + `","content":[{"type":"tool_use","id":"` + use + `","name":"Bash","input":{"command":"` + line + `"}}]},"sessionId":"s1"}` + "\n"
	}
	gemini := `{"sessionId":"s2","messages":[{"id":"g1","type":"user","content":"go"},{"id":"g2","type":"gemini","content":"Done.","toolCalls":[
		{"id":"1","name":"run_shell_command","args":{"command":"make test"},"status":"success","result":[{"functionResponse":{"response":{"output":"Command: make test\nOutput: x\nExit Code: 2\nSignal: 0"}}}]},
		{"id":"2","name":"run_shell_command","args":{"command":"rm x"},"status":"cancelled"},
		{"id":"3","name":"write_file","args":{"file_path":"docs/a.md","content":"token ` + key + `"},"status":"success"},
		{"id":"4","name":"replace","args":{"file_path":"b.go","old_string":"x\ny","new_string":"x\nz"},"status":"success"},
		{"id":"5","name":"replace","args":{"file_path":"c.go","old_string":"x","new_string":"z"},"status":"error"},
		{"id":"6","name":"write_file","args":{"file_path":"/etc/x","content":"x"},"status":"success"}]}]}`
	for name, put := range layouts {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			put(r, "aabbccddee11", map[string]string{
				"metadata.json":           `{"sessions":[{},{}]}`,
				"0/metadata.json":         metadata("s1", at(13), isClaude),
				"0/full.jsonl":            typed("p1", 10, "deploy it") + bash("t1", "deploy "+password) + said("m1", 12, "Done."),
				"0/tasks/toolu_9/x.jsonl": typed("q1", 10, "log in, the password is "+password) + bash("t2", "login") + said("m2", 12, "In."),
				"1/metadata.json":         metadata("s2", at(13), `,"agent":"Gemini CLI"`),
				"1/full.jsonl":            gemini,
			})
			all, problems := r.sessionsWith(entire.Options{Readers: readers, Options: harvest.Options{Moments: work.All}}, nil)
			got := map[string]string{}
			for _, s := range all {
				got[s.ID] = workOf(t, s)
			}
			for id, want := range map[string]string{
				"s1":         `[{"kind":"ran","line":"deploy [`,
				"s1/toolu_9": `[{"kind":"ran","line":"login"}]`,
				"s2":         `[{"kind":"ran","line":"make test","exit":2,"tests":"make test"},{"kind":"changed","file":"docs/a.md","added":"token [redacted:`,
			} {
				if !strings.HasPrefix(got[id], want) || strings.Contains(got[id], key) || strings.Contains(got[id], password) {
					t.Errorf("%s: %s, want %s; problems %v", id, got[id], want, problems)
				}
			}
			if !strings.HasSuffix(got["s2"], `,{"kind":"changed","file":"b.go","added":"z","removed":"y"}]`) {
				t.Error(got["s2"])
			}
			for id, s := range got {
				if strings.Contains(s, "rm x") || strings.Contains(s, "c.go") || strings.Contains(s, "etc") {
					t.Errorf("%s: %s", id, s)
				}
			}
		})
	}
}
