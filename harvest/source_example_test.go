package harvest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/redact"
)

// Parrot reads the sessions of an agent that keeps log/<id>.jsonl in its home,
// lines of {"who","text","skill","at"}.
type Parrot struct {
	Home   string
	Filter harvest.Filter
}

var _ harvest.Source = Parrot{}

func (Parrot) Name() string { return "parrot" }

func (p Parrot) Sessions(ctx context.Context, c harvest.Cursor, yield func(*harvest.Session) error) ([]harvest.Problem, error) {
	files, problems := harvest.Find(filepath.Join(p.Home, "log"), 0, func(name string) bool { return strings.HasSuffix(name, ".jsonl") })
	more, err := harvest.ReadFiles(ctx, files, p.Filter, c, ReadParrot, yield)
	return append(problems, more...), err
}

func ReadParrot(ctx context.Context, r io.Reader, file string) (*harvest.Session, []harvest.Problem, error) {
	s := &harvest.Session{ID: strings.TrimSuffix(filepath.Base(file), ".jsonl"), Agent: "parrot", Path: file}
	clean := func(v gjson.Result) string {
		text, n := harvest.Clean(redact.Detector{}, v.Str)
		s.Redactions += n
		return text
	}
	want := func(line []byte) bool { return !bytes.HasPrefix(line, []byte(`{"who":"tool"`)) } // most bytes
	take := func(n int, line []byte) bool {
		rec := gjson.ParseBytes(line)
		at, _ := time.Parse(time.RFC3339Nano, rec.Get("at").Str)
		switch rec.Get("who").Str {
		case "user":
			s.Turns = append(s.Turns, harvest.Turn{Time: at, Prompt: clean(rec.Get("text"))})
		case "parrot":
			if len(s.Turns) > 0 {
				s.Turns[len(s.Turns)-1].Answer = clean(rec.Get("text"))
			}
		case "skill":
			s.Invoke(harvest.Invocation{ID: fmt.Sprintf("parrot-skill-%d", n), Skill: harvest.SkillName(clean(rec.Get("skill"))),
				Signal: harvest.SkillToolUse, Line: n, Time: at})
		}
		return rec.Get("who").Exists()
	}
	problems, err := harvest.Scan(ctx, r, file, want, take)
	if err != nil || len(s.Turns) == 0 {
		return nil, problems, err
	}
	s.Problems = problems
	harvest.Assess(s)
	return s, problems, nil
}

// A whole source, as docs/adding-a-source.md explains it.
func ExampleSource() {
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
	var c harvest.MemoryCursor
	problems, err := Parrot{Home: home}.Sessions(context.Background(), &c, func(s *harvest.Session) error {
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
