package mutate

import (
	"context"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// asked keeps the prompt that it answers.
type asked struct {
	reply string
	got   eval.Prompt
}

func (*asked) Identity() eval.Identity { return eval.Identity{Backend: "scripted", Simulated: true} }

func (a *asked) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	a.got = p
	return eval.Completion{Text: a.reply}, nil
}

// TestHookPrompt: a rule file is asked for in its format, with nothing of programs and kernels,
// and what is none is no reply; a script is asked for with nothing of that format.
func TestHookPrompt(t *testing.T) {
	const file = "{\"version\": 1, \"rules\": [\n  {\"tool\": \"Bash\", \"program\": \"git\", \"words\": [\"push\"], \"say\": \"Do not push.\"}\n]}\n"
	better := strings.Replace(file, `"push"`, `"push", "--force"`, 1)
	for name, c := range map[string]struct {
		script, text, reply string
		has, lacks          []string
		want                string // "": refused
	}{
		"rules": {"x.json", file, "It looks for the flag.\n\n```json\n" + better + "```\n", []string{"This rule file is a hook.", `"not_words"`, "Change the rule file", "It has 3 lines"}, []string{"kernel", "stdin", "No eval"}, better},
		"other": {"x.json", file, "More.\n\n```json\n" + strings.Replace(file, `"say"`, `"run": "x", "say"`, 1) + "```\n", nil, nil, ""},
		"sh":    {"x.sh", "#!/bin/sh\nexit 0\n", "It stops.\n\n```sh\n#!/bin/sh\nexit 2\n```\n", []string{"This sh script is a hook.", "Change the script", `"# kernel"`}, []string{"not_words", "rule file"}, "#!/bin/sh\nexit 2\n"},
		"CRLF": {"x.py", "#!/usr/bin/env python3\n# kernel\r\nimport sys\r\n# /kernel\r\n\r\nsys.exit(0)\r\n", "It stops.\n\n```python\n#!/usr/bin/env python3\n# kernel\nimport sys\n# /kernel\n\nsys.exit(2)\n```\n",
			nil, nil, "#!/usr/bin/env python3\n# kernel\r\nimport sys\r\n# /kernel\r\n\r\nsys.exit(2)\r\n"},
	} {
		doc, err := skill.Parse([]byte(c.text), skill.Options{Script: c.script})
		if err != nil {
			t.Fatal(err)
		}
		m := &asked{reply: c.reply}
		next, _, err := (&Hook{Model: m, Event: "PreToolUse"}).Propose(t.Context(), doc, 1)
		if (err == nil) != (c.want != "") || err == nil && string(next.Render()) != c.want {
			t.Errorf("%s: %v", name, err)
		}
		for _, s := range c.has {
			if !strings.Contains(m.got.User, s) {
				t.Errorf("%s: the prompt has no %q:\n%s", name, s, m.got.User)
			}
		}
		for _, s := range c.lacks {
			if strings.Contains(m.got.User, s) {
				t.Errorf("%s: the prompt has %q", name, s)
			}
		}
		if strings.Contains(m.got.User, "\n\n\n") {
			t.Errorf("%s: an empty line too many:\n%s", name, m.got.User)
		}
	}
}
