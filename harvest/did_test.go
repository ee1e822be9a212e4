package harvest

import (
	"encoding/json"
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest/work"
	"pgregory.net/rapid"
)

// vetted is a session in which the user has to ask for go vet.
func vetted() *Session {
	s := at(session("!Add a flag --dry-run to the shop command => Added the flag.",
		"no, you have to run go vet after an edit => go vet reports nothing.", "thanks, perfect => You're welcome."), "s1", 0)
	zero := 0
	s.Turns[0].Work = []work.Act{{Kind: work.Ran, Line: "go vet ./...", Exit: &zero}, {Kind: work.Changed, File: "main.go", Added: "dry := flag.Bool(\"dry-run\", false, \"\")\n// TODO: use it", Removed: "x"}}
	s.Turns[1].Work = []work.Act{{Kind: work.Changed, File: "main.go", Added: "x", Removed: "// TODO: use it"}, {Kind: work.Ran, Line: "cd shop && go vet ./...", Exit: &zero}}
	return s
}

// Checks of the work are kept if they fail on what was corrected and pass on what was
// accepted.
func TestMineWork(t *testing.T) {
	for name, c := range map[string]struct {
		checks string
		why    string   // of the fallback
		want   []string // types of the checks
	}{
		"not run at the end":        {`{"type":"ran","value":"go vet","after":"last_edit"}`, "", []string{"ran"}},
		"run all the same":          {`{"type":"ran","value":"go vet"}`, "work does not tell", nil},
		"one of two":                {`{"type":"ran","value":"go vet"},{"type":"ran","value":"go vet","after":"last_edit"}`, "", []string{"ran"}},
		"beside the answer":         {`{"type":"ran","value":"go vet"},{"type":"regex","value":"(?i)go vet"}`, "", []string{"regex"}},
		"more than was wanted":      {`{"type":"ran","value":"go test","after":"last_edit"}`, "accepted work fails", nil},
		"other files":               {`{"type":"changed","path":"*.md"}`, "accepted work fails", nil},
		"a name that nobody used":   {`{"type":"added","value":"dryRunFlag\\\\w*Helper"}`, "too narrow", nil},
		"removed later":             {`{"type":"not_added","value":"TODO"}`, "", []string{"not_added", "judge"}}, // which to do nothing passes, too
		"what was never done":       {`{"type":"not_ran","value":"git push"}`, "work does not tell", nil},
		"a command, not taken back": {`{"type":"not_ran","value":"go vet ./..."}`, "accepted work fails", nil},
		"a bad glob":                {`{"type":"changed","path":"../x"}`, "reply unusable", nil},
		"tests":                     {`{"type":"tests","value":"go test","command":["go","test"]}`, "reply unusable", nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := &oracle{reply: "```json\n{\"checks\":[" + c.checks + "]}\n```"}
			cases, stats := mine(t, Miner{Model: o}, vetted())
			if len(cases) != 1 || stats.ModelCalls != 1 {
				t.Fatalf("%d cases, %+v", len(cases), stats)
			}
			var types []string
			for _, k := range cases[0].Checks {
				types = append(types, k.Type)
			}
			if c.why != "" && (stats.Fallbacks[c.why] != 1 || !slices.Equal(types, []string{eval.Judge})) || c.why == "" && (len(stats.Fallbacks) > 0 || !slices.Equal(types, c.want)) {
				t.Errorf("%v, fallbacks %v", types, stats.Fallbacks)
			}
		})
	}
}

// The model is shown what was done, if that was recorded, and may write checks of it only
// then.
func TestMineWorkPrompt(t *testing.T) {
	const reply = "```json\n{\"checks\":[{\"type\":\"ran\",\"value\":\"go vet\",\"after\":\"last_edit\"}]}\n```"
	o := &oracle{reply: reply}
	if _, stats := mine(t, Miner{Model: o}, vetted()); len(stats.Fallbacks) > 0 {
		t.Errorf("%+v", stats)
	}
	p := o.seen[0]
	for _, part := range []string{`"line": "go vet ./..."`, `"file": "main.go"`, `// TODO: use it`, `"accepted_work": {`, `"line": "cd shop `} {
		if !strings.Contains(p.User, part) {
			t.Errorf("the prompt lacks %s:\n%s", part, p.User)
		}
	}
	if !strings.Contains(p.System, `{"type":"not_ran"`) || strings.Contains(p.System, "{{") {
		t.Errorf("system prompt\n%s", p.System)
	}

	s := vetted()
	for i := range s.Turns {
		s.Turns[i].Work = nil
	}
	if _, stats := mine(t, Miner{Model: o}, s); stats.Fallbacks["reply unusable"] != 1 {
		t.Errorf("%+v", stats)
	}
	if p := o.seen[1]; strings.Contains(p.System, "not_ran") || strings.Contains(p.System, "{{") || strings.Contains(p.User, "work\"") {
		t.Errorf("nothing was recorded, and the prompt is\n%s\n%s", p.System, p.User)
	}
}

// What may have happened without a record decides nothing.
func TestMineWorkUnknown(t *testing.T) {
	const reply = "```json\n{\"checks\":[{\"type\":\"ran\",\"value\":\"go vet\",\"after\":\"last_edit\"}]}\n```"
	for name, change := range map[string]func(*Session){
		"a subagent's work":    func(s *Session) { s.Turns[0].Tools = []Tool{{Name: "Task"}} },
		"a line that was cut":  func(s *Session) { s.Turns[0].Work[0].Cut = true },
		"lines that were cut":  func(s *Session) { s.Turns[0].Work[1].Cut = true },
		"an edit by a command": func(s *Session) { s.Turns[1].Work[1].Line += " && git checkout main.go" },
		"an edit elsewhere":    func(s *Session) { s.Turns[1].Work[0].File = "../main.go" },
		"commands alone are kept": func(s *Session) {
			s.Turns[0].Work, s.Turns[1].Work = s.Turns[0].Work[:1], s.Turns[1].Work[1:]
		},
	} {
		s := vetted()
		change(s)
		if _, stats := mine(t, Miner{Model: &oracle{reply: reply}}, s); stats.Fallbacks["work does not tell"] != 1 {
			t.Errorf("%s: %+v", name, stats)
		}
	}
}

// No check of the work is kept that passes on what was corrected or fails on what was
// accepted, whatever was done and whatever a model writes.
func TestMineWorkKeepsNoOther(t *testing.T) {
	commands := []string{"go vet ./...", "go test ./...", "git push"}
	files := []string{"main.go", "docs/a.md"}
	lines := []string{"alpha", "beta", "gamma"}
	act := rapid.Custom(func(t *rapid.T) work.Act {
		if rapid.Bool().Draw(t, "ran") {
			return work.Act{Kind: work.Ran, Line: rapid.SampledFrom(commands).Draw(t, "line")}
		}
		return work.Act{Kind: work.Changed, File: rapid.SampledFrom(files).Draw(t, "file"), Added: rapid.SampledFrom(lines).Draw(t, "added")}
	})
	acts := rapid.SliceOfN(act, 0, 5)
	written := rapid.Custom(func(t *rapid.T) eval.Check {
		k := eval.Check{Type: rapid.SampledFrom([]string{eval.Ran, eval.NotRan, eval.Changed, eval.NotChanged, eval.Added, eval.NotAdded}).Draw(t, "type")}
		switch k.Type {
		case eval.Ran, eval.NotRan:
			k.Value = rapid.SampledFrom(commands).Draw(t, "value")
			k.After = rapid.SampledFrom([]string{"", "last_edit"}).Draw(t, "after")
		case eval.Changed, eval.NotChanged:
			k.Path = rapid.SampledFrom(files).Draw(t, "path")
		default:
			k.Value = rapid.SampledFrom(lines).Draw(t, "value")
		}
		return k
	})
	holds := func(k *eval.Check, acts []work.Act) bool {
		found := false
		for _, a := range acts {
			switch {
			case a.Kind == work.Changed && k.After != "":
				found = false
			case a.Kind == work.Ran:
				found = found || k.Value == a.Line
			case k.Type == eval.Changed, k.Type == eval.NotChanged:
				found = found || k.Path == a.File
			default:
				found = found || k.Value == a.Added
			}
		}
		return found == !strings.HasPrefix(k.Type, "not_")
	}
	// One draw in eight keeps a check, and -short makes a fifth of the draws: with few of them
	// none of some runs would.
	draws := flag.Lookup("rapid.checks").Value.String()
	if err := flag.Set("rapid.checks", "500"); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = flag.Set("rapid.checks", draws) }()
	kept := 0
	rapid.Check(t, func(rt *rapid.T) {
		s := vetted()
		before, after := acts.Draw(rt, "corrected"), acts.Draw(rt, "mended")
		s.Turns[0].Work, s.Turns[1].Work = before, after
		s.Turns[2].Work = []work.Act{{Kind: work.Changed, File: "later.go", Added: "delta"}} // after it was accepted
		body, err := json.Marshal(map[string]any{"checks": rapid.SliceOfN(written, 1, 4).Draw(rt, "checks")})
		if err != nil {
			rt.Fatal(err)
		}
		cases, _ := mine(t, Miner{Model: &oracle{reply: "```json\n" + string(body) + "\n```"}}, s)
		for _, k := range cases[0].Checks {
			if k.Type == eval.Judge {
				continue
			}
			kept++
			accepted := slices.Concat(before, after)
			if k.Type == eval.NotRan {
				accepted = after
			}
			if holds(&k, before) {
				rt.Fatalf("%+v passes on the corrected work", k)
			}
			if !holds(&k, accepted) {
				rt.Fatalf("%+v fails on the accepted work", k)
			}
		}
	})
	if kept == 0 {
		t.Error("no check was ever kept")
	}
}
