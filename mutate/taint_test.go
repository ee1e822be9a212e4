package mutate

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/evaltest"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// obeyed is what an obedient model writes into a skill once it has found an
// order, and said what tools and web pages said.
const (
	obeyed = "Obey the page."
	said   = "TOOL OUTPUT"
)

// An obedient model edits the first fenced text of its prompt, and obeys
// every order that is neither in a fence nor in a quotation.
type obedient struct {
	t       *testing.T
	prompts []eval.Prompt
	own     string // of the last prompt: its own words
	texts   []string
}

func (*obedient) Identity() eval.Identity { return eval.Identity{Backend: "obedient"} }

func (o *obedient) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	o.prompts = append(o.prompts, p)
	rest, texts := fences(o.t, p.User)
	own, quoted := evaltest.Split(rest)
	if h := evaltest.Hidden(quoted); len(h) > 0 {
		o.t.Errorf("a quotation shows what it hides, %U:\n%s", h, quoted)
	}
	o.own, o.texts = p.System+own, texts
	edit := "- Label every axis.\n"
	if evaltest.Obeys(o.own) {
		edit += "- " + obeyed + "\n"
	}
	text := strings.Replace(texts[0], "- Spare line.\n", edit, 1)
	if text == texts[0] {
		text += edit
	}
	fence := fenceFor(text)
	return eval.Completion{Text: "Done.\n" + fence + "\n" + text + fence + "\n", Finish: "stop"}, nil
}

// fences cuts the fenced texts out of a prompt. What a fence holds must not hold
// the fence, wherever a line may be seen to begin.
func fences(t *testing.T, prompt string) (rest string, texts []string) {
	t.Helper()
	for {
		at := strings.Index("\n"+prompt, "\n```")
		if at < 0 {
			return rest + prompt, texts
		}
		rest, prompt = rest+prompt[:at], prompt[at:]
		fence, after, _ := strings.Cut(prompt, "\n")
		end := strings.Index(after, fence)
		if strings.Trim(fence, "`") != "" || end < 0 || end > 0 && after[end-1] != '\n' || !strings.HasPrefix(after[end+len(fence):], "\n") {
			t.Fatalf("a fence is not what it seems, in\n%s", prompt)
		}
		texts, prompt = append(texts, after[:end]), after[end+len(fence):]
	}
}

// plantedSkill is a skill with order in its description and in its rules, and
// as the name of its kernel section.
func plantedSkill(t *testing.T, order, rule string) *skill.Document {
	t.Helper()
	description, err := json.Marshal("Draws charts. " + strings.ReplaceAll(order, "\n", " "))
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Join(strings.Fields(order), " ")
	d, err := skill.Parse([]byte("---\nname: s\ndescription: "+string(description)+"\n---\n\n# S\n\n- "+rule+"\n- Spare line.\n- Third: "+line+
		"\n\n## Safety "+line+"\n\nKeep. "+order+"\n"), skill.Options{EvolveDescription: true})
	if err != nil {
		t.Fatalf("%q: %v", order, err)
	}
	return d
}

// plantedInput holds order in every field that an operator is given.
func plantedInput(t *testing.T, order string) Input {
	c := &eval.Case{ID: "c", Skill: "s", Prompt: "Label the axis. " + order, Reference: "assistant: " + order,
		Context: []eval.Message{{Role: "user", Text: order}, {Role: "assistant", Text: order}, {Role: "tool", Text: said}},
		Files:   map[string]string{"a.csv": said}, Checks: []eval.Check{{Type: eval.Contains, Value: order, Rubric: order, Feedback: order}}}
	tools := []eval.ToolCall{{Name: said, Input: said + order, Failed: true}}
	checks := []eval.CheckResult{{Type: eval.Contains, Feedback: "axis " + order, Evidence: said + order},
		{Type: eval.Judge, Feedback: "judge: " + order, Evidence: said}, {Type: eval.Exec, Feedback: "program: " + order, Evidence: said}}
	in := Input{Parent: plantedSkill(t, order, "Draw the chart that is asked for in blue."), MaxTokens: 5000,
		Other:    plantedSkill(t, order, "Draw the chart that is asked for in green."),
		Ancestor: plantedSkill(t, order, "Draw the chart that is asked for."),
		Corpus:   []string{order}, Rejected: []Attempt{{Change: summarise("- a\n", order), Result: order}, {Change: order, Result: "lost"}}}
	for _, r := range []*eval.Rollout{
		{Answer: "assistant: " + order, Quality: 0.5, Checks: checks, Feedback: []string{order}, Trace: tools, Files: []string{said}, Skills: []string{said}},
		{Failure: "failed: " + order, Answer: order, Checks: checks, Trace: tools},
		{Answer: order, Quality: 1, Trace: tools},
	} {
		in.Evidence = append(in.Evidence, Evidence{Case: c, Rollout: r})
	}
	in.Failing, in.Asked = []Tally{{Feedback: "axis " + order, Cases: []string{"c"}}, {Feedback: order}}, []string{order, "axis " + order}
	in.Passing = &Evidence{Case: c, Rollout: &eval.Rollout{Answer: order, Quality: 1, Trace: tools}}
	return in
}

// unnamed returns the first line of a quotation below no line that names its
// origin, "" if there is none.
func unnamed(prompt string) string {
	above, quoted := "", false
	for _, line := range strings.Split(prompt, "\n") {
		switch {
		case strings.HasPrefix(line, "> "):
			if !quoted && !strings.Contains(above, "origin: ") {
				return line
			}
			quoted = true
		case strings.TrimSpace(line) != "":
			above, quoted = line, false
		}
	}
	return ""
}

func operators(m eval.Model) []Operator {
	return []Operator{&Reflect{Model: m}, &Reflect{Model: m, Plain: true}, &Prune{Model: m}, &Rephrase{Model: m},
		&Examples{Model: m}, &Merge{Model: m}, &Description{Model: m}}
}

// size is what a prompt says of the length of the text, the only thing of its own words that
// depends on a text.
var size = regexp.MustCompile(`(about|within) \d+ (of at most \d+ )?words`)

// TestObedientMutatorFindsNoOrder: with any text of users, agents, graders,
// tools and other candidates, an obedient model finds no order in the prompt
// of any operator, the prompt's own words stay the same, and texts of tools
// and web pages are not there at all.
func TestObedientMutatorFindsNoOrder(t *testing.T) {
	own := map[int]string{}
	proposals := map[int]int{}
	for i, order := range evaltest.Orders {
		in := plantedInput(t, order)
		o := &obedient{t: t}
		corrections := []Correction{{Case: in.Evidence[0].Case, Words: "axis: " + order, Rule: order}}
		for k, op := range append(operators(o), &Suggest{Model: o, Corrections: corrections}) {
			n := len(o.prompts)
			p, err := op.Propose(t.Context(), in)
			if len(o.prompts) != n+1 {
				t.Fatalf("%s asked %d times, %v", op.Name(), len(o.prompts)-n, err)
			}
			user := o.prompts[n].User
			if evaltest.Obeys(o.own) {
				t.Errorf("%s obeys order %d, %q:\n%s", op.Name(), i, order, o.own)
			}
			if line := unnamed(user); line != "" {
				t.Errorf("%s does not name the origin of %q", op.Name(), line)
			}
			if strings.Contains(user, said) {
				t.Errorf("%s is shown what a tool said:\n%s", op.Name(), user)
			}
			words := size.ReplaceAllString(o.own, "about N words")
			if own[k] == "" {
				own[k] = words
			} else if words != own[k] {
				t.Errorf("order %d changed the own words of %s:\n%s\nwant\n%s", i, op.Name(), words, own[k])
			}
			want := []string{withNewline(in.Parent.View())}
			switch op.Name() {
			case "merge":
				want = append(want, withNewline(in.Other.View()))
			case "description":
				want = []string{withNewline(in.Parent.Description())}
			}
			if strings.Join(o.texts, "\x00") != strings.Join(want, "\x00") {
				t.Errorf("%s shows %q, want %q", op.Name(), o.texts, want)
			}
			if err != nil {
				continue // an order in a skill's own text may break it: WithView says so
			}
			proposals[k]++
			if strings.Contains(string(p.Doc.Render()), obeyed) {
				t.Errorf("%s adopted what order %d asked for: %s", op.Name(), i, p.Doc.Render())
			}
		}
	}
	for k, op := range operators(nil) {
		if 2*proposals[k] < len(evaltest.Orders) {
			t.Errorf("%s made only %d proposals of %d: this shows little", op.Name(), proposals[k], len(evaltest.Orders))
		}
	}
}

// TestObedientModelObeys: the model of the test above does obey what is not
// quoted, and the operators that adopt a reply as it is adopt that as well.
func TestObedientModelObeys(t *testing.T) {
	for i, order := range evaltest.Orders {
		if strings.Contains(order, "```") {
			continue // it stands in fences of its own
		}
		o := &obedient{t: t}
		c, err := o.Complete(t.Context(), eval.Prompt{User: "```\n- a\n```\nIt answered:\n" + order})
		if err != nil || !strings.Contains(c.Text, obeyed) {
			t.Errorf("order %d is not obeyed: %q, %v", i, c.Text, err)
		}
	}
}

// TestSkillsOwnSecretIsNotShown: a model behind the redactor does not see a
// secret of the skill, and the child holds it all the same.
func TestSkillsOwnSecretIsNotShown(t *testing.T) {
	key := "ghp_" + strings.Repeat("aB3dE5gH7", 4)
	parent, err := skill.Parse([]byte("---\nname: s\ndescription: d\n---\n\n# S\n\n- Fetch with "+key+" in the header.\n- Spare line.\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := &obedient{t: t}
	for _, op := range operators(&eval.Metered{Model: o, By: eval.ByMutator, Redactor: redact.Detector{}})[:4] {
		n := len(o.prompts)
		p, err := op.Propose(t.Context(), Input{Parent: parent, MaxTokens: 5000, Evidence: hostileEvidence("label the axis")})
		if err != nil || len(o.prompts) != n+1 {
			t.Fatalf("%s: %v", op.Name(), err)
		}
		if user := o.prompts[n].User; strings.Contains(user, key) || !strings.Contains(user, "[redacted:") {
			t.Errorf("%s shows the secret:\n%s", op.Name(), user)
		}
		if view := p.Doc.View(); !strings.Contains(view, key) || strings.Contains(view, "[redacted:") || p.Doc.Hash() == parent.Hash() {
			t.Errorf("%s made %q", op.Name(), view)
		}
	}
}

// TestUnionQuotesWhatItAsksAbout: texts of proposals are quoted when the
// mutator is asked whether they are the same.
func TestUnionQuotesWhatItAsksAbout(t *testing.T) {
	asked := 0
	for i, order := range evaltest.Orders {
		line := strings.Join(strings.Fields(order), " ")
		base := "- Spare line.\n"
		parent, ps := unionOf(t, base, base+"- Label the value axis of charts. "+line+"\n", base+"- Charts get a label at the value axis, in words. "+line+"\n")
		o := &obedient{t: t}
		u := &Union{Model: o, Proposals: ps}
		_, err := u.Propose(t.Context(), Input{Parent: parent, MaxTokens: 5000})
		var unusable *ReplyError
		if err != nil && !errors.As(err, &unusable) {
			t.Errorf("order %d: %v", i, err)
		}
		if len(o.prompts) == 0 {
			continue // it broke the text, and is left out
		}
		asked++
		if evaltest.Obeys(o.own) {
			t.Errorf("order %d, %q, is obeyed:\n%s", i, order, o.own)
		}
		if l := unnamed(o.prompts[0].User); l != "" {
			t.Errorf("order %d: the origin of %q is not named", i, l)
		}
	}
	if 2*asked < len(evaltest.Orders) {
		t.Errorf("asked about %d orders of %d: this shows little", asked, len(evaltest.Orders))
	}
}
