package mutate

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
)

const secretive = "---\nname: s\ndescription: Draws charts.\n---\n\n# S\n\n- Sign in with [redacted:password] as it stands.\n- Draw the chart that is asked for in blue.\n- Spare.\n" +
	"\n## Safety\n\nNever print [redacted:api-key].\n"

// TestPlaceholdersOfSecretsAreRefused: what takes the place of a secret in a prompt does
// not get into a skill, whichever operator a model replies to, and the reason is
// one that the next attempt can read. What the parent holds may stay.
func TestPlaceholdersOfSecretsAreRefused(t *testing.T) {
	parent, err := skill.Parse([]byte(secretive), skill.Options{EvolveDescription: true})
	if err != nil {
		t.Fatal(err)
	}
	parse := func(old, new string) *skill.Document {
		d, err := skill.Parse([]byte(strings.Replace(secretive, old, new, 1)), skill.Options{EvolveDescription: true})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	in := Input{Parent: parent, MaxTokens: 5000, Other: parse("in blue.", "in green."), Ancestor: parse("in blue.", "in red."),
		Evidence: []Evidence{{Case: &eval.Case{ID: "c", Prompt: "Use the token", Reference: "Token [redacted:token]"}, Rollout: &eval.Rollout{Feedback: []string{"use the token, the password and the api-key"}}}}}
	for _, c := range []struct {
		name, line string // added below the first rule
		new        string // the placeholder that is refused, "" for none
	}{
		{"plain", "- Use the token.", ""},
		{"about redaction", "- Write [redacted] for the token.", ""},
		{"of a case", "- Use the token [redacted:token].", "[redacted:token]"},
		{"of the kernel", "- Use the api-key [redacted:api-key].", "[redacted:api-key]"},
		{"twice", "- Use the password [redacted:password] as well.", "[redacted:password]"},
		{"another spelling", "- Use the token [ REDACTED: token ].", "[ REDACTED: token ]"},
		{"cut off", "- Use the token [redacted:tok", "[redacted:tok"},
		{"hidden", "- Use the token [red\u200bacted:token].", "[redacted:token]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			view := strings.Replace(parent.View(), "- Spare.\n", c.line+"\n", 1)
			m := &saying{text: "Done.\n```\n" + view + "```\n"}
			for _, op := range []Operator{&Reflect{Model: m}, &Reflect{Model: m, Plain: true}, &Rephrase{Model: m}, &Examples{Model: m}} {
				p, err := op.Propose(t.Context(), in)
				refused(t, op.Name(), p, err, c.new)
			}
			// What is like nothing in either text is no part of a merge anyway.
			m.text = strings.Replace(m.text, c.line, "- Draw the chart that is asked for. "+c.line[2:], 1)
			merged, err := (&Merge{Model: m}).Propose(t.Context(), in)
			refused(t, "merge", merged, err, c.new)
			m.text = "Done.\n```\nDraws charts. " + c.line + "\n```\n"
			p, err := (&Description{Model: m}).Propose(t.Context(), in)
			if c.name == "cut off" || c.name == "hidden" {
				return // what the reading of a description makes of these is not said here
			}
			refused(t, "description", p, err, c.new)
		})
	}
}

func refused(t *testing.T, op string, p Proposal, err error, placeholder string) {
	t.Helper()
	if placeholder == "" {
		if err != nil {
			t.Errorf("%s: %v", op, err)
		}
		return
	}
	var unusable *ReplyError
	if !errors.As(err, &unusable) {
		t.Fatalf("%s adopted a placeholder: %v, %v", op, p.Summary, err)
	}
	if !strings.Contains(unusable.Reason, placeholder) || unusable.Change == "" {
		t.Errorf("%s: the next attempt reads %q of %q", op, unusable.Reason, unusable.Change)
	}
}

// TestPlaceholdersOfTheParentStay: a merge may keep what either parent holds, and
// a deletion takes one out.
func TestPlaceholdersOfTheParentStay(t *testing.T) {
	doc := func(rules string) *skill.Document {
		d, err := skill.Parse([]byte("---\nname: s\ndescription: d\n---\n\n# S\n\n"+rules), skill.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	base := doc("- One.\n- Log in with [redacted:password].\n- Two.\n")
	other := doc("- One.\n- Log in with [redacted:password].\n- Two.\n- Three.\n")
	p, err := (&Merge{}).Propose(t.Context(), Input{Parent: doc("- One.\n- Log in with [redacted:password].\n- Two, always.\n"), Other: other, Ancestor: base})
	if err != nil || !strings.Contains(p.Doc.View(), "[redacted:password]") || !strings.Contains(p.Doc.View(), "Three") {
		t.Errorf("merged %+v, %v", p.Summary, err)
	}
	index, text := Deletable(Input{Parent: base})
	for k := range index {
		if strings.Contains(text[k], "redacted") {
			if p, err := (&Ablate{Blocks: index[k : k+1]}).Propose(t.Context(), Input{Parent: base}); err != nil || strings.Contains(p.Doc.View(), "redacted") {
				t.Errorf("deleting %q: %v", text[k], err)
			}
		}
	}
}

// TestSecretsOfTheSkillStay: a model sees a placeholder instead of a secret
// of the skill itself. A line that it returns unchanged is the owner's line;
// one that could be either of two, or that it changed, is refused.
func TestSecretsOfTheSkillStay(t *testing.T) {
	const rules = "- Log in with hunter2-hunter2 (staging).\n- Label axes.\n- Key: aaaa1111\n- Key: bbbb2222\n- Sent to [redacted:host].\n"
	parent, err := skill.Parse([]byte("---\nname: s\ndescription: d\n---\n\n# S\n\n"+rules), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	shown := strings.NewReplacer("hunter2-hunter2", "[redacted:password]", "Label axes.", "Label both axes.").Replace(parent.View())
	for _, c := range []struct {
		name, view string
		ok         bool
	}{
		{"as it was shown", shown, true},
		{"a blank behind it", strings.Replace(shown, "(staging).", "(staging). ", 1), true},
		{"reworded", strings.Replace(shown, "Log in with", "Use", 1), false},
		{"another line as well", shown + "- Keep [redacted:password].\n", false},
		{"nothing but a placeholder", shown + "[redacted:password]\n", false},
		{"one of two", strings.Replace(shown, "aaaa1111", "[redacted:api-key]", 1), false},
		{"twice", strings.Replace(shown, "- Label", "- Log in with [redacted:password] (staging).\n- Label", 1), false},
	} {
		m := &saying{text: "Done.\n```\n" + c.view + "```\n"}
		p, err := (&Reflect{Model: m, Plain: true}).Propose(t.Context(), Input{Parent: parent, Evidence: hostileEvidence("label"), MaxTokens: 5000})
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		if err == nil && (!strings.Contains(p.Doc.View(), "- Log in with hunter2-hunter2 (staging).\n") || !strings.Contains(p.Doc.View(), "both axes")) {
			t.Errorf("%s became %q", c.name, p.Doc.View())
		}
	}
}

// FuzzRestore: whatever a reply holds, each line of what is made of it is the
// reply's own, or one of the parent's in the place of a placeholder.
func FuzzRestore(f *testing.F) {
	f.Add("- a [redacted:x] b\n", "- a secret b\n")
	f.Add("[redacted:a][redacted:b]", "\n")
	f.Add("- a [redacted:x", "- a\n- a .+\n")
	f.Add("- a [redacted:x]\n- b", "- b\n- a secret")
	f.Fuzz(func(t *testing.T, view, parent string) {
		got := restore(view, parent)
		if !redacted.MatchString(view) && got != view {
			t.Fatalf("%q became %q", view, got)
		}
		was, now, own := strings.Split(view, "\n"), strings.Split(got, "\n"), strings.Split(parent, "\n")
		for i := range was {
			if i >= len(now) || now[i] != was[i] && (!redacted.MatchString(was[i]) || redacted.MatchString(now[i]) || !slices.Contains(own, now[i])) {
				t.Fatalf("%q on %q became %q", view, parent, got)
			}
		}
	})
}
