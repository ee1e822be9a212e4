package eval

import (
	"encoding/json"
	"strings"
	"testing"
)

const oneCase = `{"id":"rev-01","skill":"dataviz","prompt":"Plot it","context":[{"role":"user","text":"hi"}],` +
	`"files":{"data/revenue.csv":"week,usd\n"},"workspace":{"repo":"../shop","commit":"9c1f"},` +
	`"checks":[{"type":"contains","value":"<log>","weight":2,"feedback":"use a log scale"},{"type":"judge","rubric":"labels axes"}],` +
	`"reference":"fine","cluster":"s1","split":"val","source":{"agent":"claude-code","session":"4f"}}`

func FuzzDecodeCase(f *testing.F) {
	f.Add([]byte(oneCase))
	f.Add([]byte(`{"id":"a","skill":"s","prompt":"p","checks":[{"type":"json_schema","schema":{"type":["string"]}}]}`))
	f.Add([]byte(`{"checks":[{"x":1}]}`))
	f.Add([]byte(``))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := DecodeCase(text)
		if err != nil {
			return
		}
		if err := c.Validate(); err != nil {
			t.Fatalf("decoded, and not valid: %v", err)
		}
		out, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeCase(out)
		if err != nil {
			t.Fatalf("written as %s, which is refused: %v", out, err)
		}
		if caseHash(c) != caseHash(again) {
			t.Fatalf("written and read, the case has another key: %s", out)
		}
	})
}

// Of several wrong paths the same one is named every time.
func TestValidateNamesTheFirstPath(t *testing.T) {
	c := Case{ID: "a", Skill: "s", Prompt: "p", Checks: []Check{{Type: "contains", Value: "x"}}, Files: map[string]string{"../a": "", "../b": "", "../c": "", "../d": ""}}
	for range 50 {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "../a") {
			t.Fatalf("error %v", err)
		}
	}
}
