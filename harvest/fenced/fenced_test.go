package fenced

import (
	"testing"

	"github.com/skill-evolve/evolve/eval/check"
)

func FuzzParseChecks(f *testing.F) {
	f.Add("```json\n{\"checks\":[{\"type\":\"contains\",\"value\":\"x\"}]}\n```")
	f.Add("```\n{\"checks\":[{\"type\":\"command\",\"command\":[\"x\"]}]}\n```")
	f.Add("```json\n{\"checks\":[],\"none\":\"talk\"}\n```")
	f.Fuzz(func(t *testing.T, s string) {
		checks, none, err := Checks(s, check.Writable(true))
		if (err == nil) != (len(checks) > 0 != (none != "")) {
			t.Errorf("%d checks, %q, error %v", len(checks), none, err)
		}
		for _, k := range checks {
			if k.Executing() || len(k.Command) > 0 {
				t.Errorf("%+v executes", k)
			}
		}
	})
}
