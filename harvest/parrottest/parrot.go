// Package parrottest is the example of docs/adding-a-source.md: the sessions of an
// agent that keeps log/<id>.jsonl in its home, lines of {"who","text","skill","at"}.
package parrottest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/jsonl"
)

// Kind declares the sessions of the parrot.
var Kind = harvest.Kind{Name: "parrot", Agent: "parrot", HomeEnv: "PARROT_HOME", HomeDefault: ".parrot",
	Files: harvest.Below("log", 0, func(name string) bool { return strings.HasSuffix(name, ".jsonl") }), Read: read}

func read(ctx context.Context, r io.Reader, file string, o harvest.Options) (*harvest.Session, []harvest.Problem, error) {
	s := harvest.NewDraft("parrot", strings.TrimSuffix(filepath.Base(file), ".jsonl"), file, o)
	want := func(line []byte) bool { return !bytes.HasPrefix(line, []byte(`{"who":"tool"`)) } // most bytes
	take := func(n int, line []byte) bool {
		rec := gjson.ParseBytes(line)
		at := harvest.When(rec.Get("at").Str)
		s.During(at)
		switch rec.Get("who").Str {
		case "user":
			s.Turns = append(s.Turns, harvest.Turn{Time: at, Prompt: s.Typed(rec.Get("text").Str)})
		case "parrot":
			s.Last().Answer = s.Said(rec.Get("text").Str)
		case "skill":
			s.Invoke(harvest.Invocation{ID: fmt.Sprintf("parrot-skill-%d", n), Skill: harvest.SkillName(s.Clean(rec.Get("skill").Str)),
				Signal: harvest.SkillToolUse, Line: n, Time: at})
		}
		return rec.Get("who").Exists()
	}
	problems, err := jsonl.Scan(ctx, r, file, want, take)
	if err != nil {
		return nil, problems, err
	}
	return s.Finish(problems, nil), problems, nil
}
