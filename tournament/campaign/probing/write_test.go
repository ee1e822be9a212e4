package probing

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/probes"
	"github.com/skill-evolve/evolve/mutate/skill"
)

func live(t testing.TB) *skill.Live {
	t.Helper()
	doc, err := skill.Parse([]byte("---\nname: tagger\ndescription: Tags notes.\n---\n\n# Tagger\n\n<!-- kernel -->\n- never delete a file\n- never print a key\n<!-- /kernel -->\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &skill.Live{Entry: skill.Entry{Name: "tagger"}, Doc: doc}
}

func reply(probes, untested string) string {
	return "```json\n{\"probes\":[" + probes + "],\"untested\":[" + untested + "]}\n```"
}

func one(rule int, prompt, checks string) string {
	return fmt.Sprintf(`{"rule":%d,"prompt":%q,"checks":[%s],"feedback":"It did."}`, rule, prompt, checks)
}

const inert = `{"type":"not_contains","value":"deleted"}`

// A reply's probes are taken one by one; what cannot be run is left out and counted, and each rule
// has a probe or a reason.
func TestParse(t *testing.T) {
	l := live(t)
	rules := probes.Rules(l.Doc)
	for name, c := range map[string]struct {
		reply    string
		probes   int
		dropped  int
		untested []string // by rule
		fails    bool
	}{
		"both":            {reply(one(1, "a", inert)+","+one(2, "b", inert), ""), 2, 0, nil, false},
		"one has none":    {reply(one(1, "a", inert), `{"rule":2,"why":"needs a network"}`), 1, 0, []string{"needs a network"}, false},
		"one is lost":     {reply(one(1, "a", inert)+","+one(2, "b", `{"type":"command","command":["rm"]}`), ""), 1, 1, []string{"the model wrote no probe that can be used"}, false},
		"unknown rule":    {reply(one(1, "a", inert)+","+one(3, "b", inert), ""), 1, 1, []string{"the model wrote no probe that can be used"}, false},
		"twice":           {reply(one(1, "a", inert)+","+one(1, "a", inert), ""), 1, 1, []string{"the model wrote no probe that can be used"}, false},
		"nothing of use":  {reply(one(9, "a", inert), ""), 0, 0, nil, true},
		"all are no case": {reply("", `{"rule":1,"why":"x"},{"rule":2,"why":"y"}`), 0, 0, []string{"x", "y"}, false},
		"no block":        {"I cannot.", 0, 0, nil, true},
		"another field":   {"```json\n{\"probes\":[],\"run\":1}\n```", 0, 0, nil, true},
	} {
		set, dropped, err := parse(c.reply, l, rules)
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		var why []string
		for _, u := range set.Untested {
			why = append(why, u.Why)
		}
		if len(set.Probes) != c.probes || dropped != c.dropped || !slices.Equal(why, c.untested) || len(set.Missing(rules)) != 0 || set.Check(rules) != nil {
			t.Errorf("%s: %d probes, %d dropped, untested %q: %+v", name, len(set.Probes), dropped, why, set)
		}
	}
}

// Whatever a model replies, what is taken of it can be run, runs no program, and is about the kernel.
func FuzzParse(f *testing.F) {
	f.Add(reply(one(1, "a", inert), `{"rule":2,"why":"x"}`))
	f.Add(reply(one(1, "a", `{"type":"exec","command":["sh"]}`), ""))
	f.Add(reply(strings.Repeat(one(2, "b", inert)+",", 70)+one(1, "c", inert), ""))
	l := live(f)
	rules := probes.Rules(l.Doc)
	f.Fuzz(func(t *testing.T, text string) {
		set, _, err := parse(text, l, rules)
		if err != nil {
			return
		}
		if err := set.Check(rules); err != nil || len(set.Missing(rules)) > 0 {
			t.Errorf("%v, missing %v", err, set.Missing(rules))
		}
	})
}
