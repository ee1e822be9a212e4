package harvest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/harvesttest"
	"github.com/skill-evolve/evolve/harvest/parrottest"
)

// The source of harvest/parrottest, as docs/adding-a-source.md explains it.
func ExampleKind() {
	home, err := os.MkdirTemp("", "parrot")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(home)
	_ = os.Mkdir(filepath.Join(home, "log"), 0o700)
	_ = os.WriteFile(filepath.Join(home, "log", "s1.jsonl"), []byte(`{"who":"user","text":"chart the revenue"}
{"who":"skill","skill":"dataviz"}
{"who":"tool","text":"a megabyte"}
{"who":"parrot","text":"Drawn."}
half a line
{"who":"user","text":"no, use a log scale"}
`), 0o600)
	var c harvesttest.Cursor
	problems, err := parrottest.Kind.Source(home, harvest.Options{}).Sessions(context.Background(), &c, func(s *harvest.Session) error {
		for _, v := range s.Invocations {
			fmt.Printf("%s of %s: %s (%s)\n", v.Skill, s.ID, v.Feedback.Label, v.Feedback.Evidence)
		}
		return nil
	})
	fmt.Println(len(problems), problems[0].Line, problems[0].Reason, err)
	// Output:
	// dataviz of s1: corrected (no, use a log scale)
	// 1 5 not a JSON object <nil>
}
