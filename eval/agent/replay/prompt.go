package replay

import (
	"strings"
	"unicode"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// Prompt is the agent's stdin: the request, after the earlier conversation if the case
// has a context, and with the failed answer if this is a work retry. Text by others is
// quoted, each line after "> ", so that nothing in it can pass for the request.
//
// mention is the agent's own way to call the skill: "/NAME", "$NAME", "/skill:NAME". It
// comes first, because agents recognise it only there, unless the request calls the
// skill in the same way already. A call that the request holds in any of these ways is
// not repeated: one at the front is replaced.
//
// The request of a trigger case is unchanged: the skill is offered, and the request
// must not name it. In the no-skill arm a call of the skill is removed, because an
// agent that does not know the name refuses the whole request: one at the front is
// removed, any other becomes the bare name.
func Prompt(t eval.Task, mention string) string {
	c := t.Case
	request := strings.TrimSpace(c.Prompt)
	name := t.Variant.Name
	var b strings.Builder
	switch {
	case t.Variant.Path != "": // it is loaded, not called
	case t.Variant.Doc == nil:
		request = unmention(request, name)
	case c.ShouldTrigger != nil:
	case strings.HasPrefix(mention, "$") && calls(request, name):
		// It may be anywhere, and stays where the user put it.
	default:
		request = cutCall(request, name)
		b.WriteString(mention)
		if mention != "" && (request != "" || len(c.Context) > 0) {
			b.WriteString(" ")
		}
	}
	if len(c.Context) == 0 && t.Prior == nil {
		b.WriteString(request)
		return b.String()
	}
	if len(c.Context) > 0 {
		b.WriteString("The request below continues an earlier conversation. Its end is quoted here, for what the request refers to; it asks for nothing itself.\n")
		for _, m := range c.Context {
			who := "The user said:"
			if m.Role == "assistant" {
				who = "The assistant said:"
			}
			b.WriteString("\n" + who + "\n")
			quote(&b, m.Text)
		}
		b.WriteString("\nThe request:\n\n")
	}
	b.WriteString(request)
	if p := t.Prior; p != nil {
		b.WriteString("\n\nThis request was answered before, and not well enough. The files are as that attempt left them. Its answer was:\n")
		quote(&b, p.Answer)
		b.WriteString("\nWhat is wrong with it:\n")
		if len(p.Feedback) == 0 {
			quote(&b, "It is not right yet.")
		}
		for _, f := range p.Feedback {
			quote(&b, "- "+f)
		}
		b.WriteString("\nDo what the request asks for again, mend that, and give the whole answer.")
	}
	return b.String()
}

// maxQuoted bounds one quoted text, in bytes: an answer may be a whole log.
const maxQuoted = 64 << 10

// quote writes text with "> " before every line, at most maxQuoted of it.
func quote(b *strings.Builder, text string) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n").Replace(text)
	text = strings.TrimRight(text, "\n")
	if strings.TrimSpace(text) == "" {
		text = "(nothing)"
	}
	if len(text) > maxQuoted {
		text = strings.ToValidUTF8(text[:maxQuoted], "") + "\n(the rest is left out)"
	}
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString("> " + line + "\n")
	}
}

// calls reports whether request holds $name as a mention.
func calls(request, name string) bool {
	for _, m := range mentions(request, name) {
		if m.ID == name {
			return true
		}
	}
	return false
}

func mentions(request, name string) []skill.Mention {
	return skill.Mentions(request, func(id string) bool { return id == name })
}

// cutCall removes a call of the skill from the front of request.
func cutCall(request, name string) string {
	for _, call := range []string{"/skill:" + name, "/skills:" + name, "/" + name, "$" + name} {
		rest, ok := strings.CutPrefix(request, call)
		if ok && (rest == "" || unicode.IsSpace([]rune(rest)[0])) {
			return strings.TrimSpace(rest)
		}
	}
	return request
}

// unmention removes every call of the skill from request. A request that is only a call
// becomes the bare name.
func unmention(request, name string) string {
	if name == "" {
		return request
	}
	out := request
	for before := ""; out != before; { // a call may hide behind another
		before = out
		out = cutCall(out, name)
		found := mentions(out, name)
		for i := len(found) - 1; i >= 0; i-- {
			if m := found[i]; m.ID == name {
				out = out[:m.Start] + out[m.Start+len("$"):]
			}
		}
	}
	if out == "" {
		return name
	}
	return out
}
