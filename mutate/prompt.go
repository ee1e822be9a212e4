package mutate

import (
	"embed"
	"fmt"
	"strings"
	"sync"
	"text/template"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest/ownwords"
	"github.com/skill-evolve/evolve/mutate/skill"
)

//go:embed prompts/*.txt
var promptFiles embed.FS

var prompts = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{"quote": eval.Quote, "inert": inertLine, "inc": func(n int) int { return n + 1 }}).ParseFS(promptFiles, "prompts/*.txt"))
})

// How much of one text a prompt shows, in bytes: enough to see the failure,
// little enough that a long answer does not crowd out the skill.
const (
	maxPromptQuote = 1200
	maxAnswerQuote = 1500
	maxAttempts    = 6
	maxLineQuote   = 200 // of a line of feedback that stands for many, or of what a check asks for
	maxFailing     = 40
	maxAsked       = 30
	maxRight       = 6   // of one request
	maxBefore      = 2   // turns
	maxBeforeQuote = 500 // of each
)

// promptData is the data of the templates in prompts/.
type promptData struct {
	Fence, View      string
	OtherView        string
	Kernel           []skill.Placeholder
	Cases            []promptCase
	Attempts         []Attempt // measured
	Refused          []Attempt // not measured
	Failing          []string  // a line of feedback each, with its count
	Asked            []string
	Passing          *promptCase
	Size             int // of the text, in words
	MaxTokens, Words int
	Alike            [][]string // sentences that may mean the same
	Standing         bool       // the text is a file of standing instructions
	Said             []promptSaid
}

// What is the kind of text that is edited.
func (d promptData) What() string {
	if d.Standing {
		return "instructions file"
	}
	return "skill"
}

type promptCase struct {
	N              int
	Before         []eval.Message // without which a request like "1" means nothing
	Prompt, Answer string
	Failure        string
	Feedback       []string
	Right          []string // what passed checks ask for
	Score          string
}

func newPromptData(in Input) promptData {
	view := in.Parent.View()
	hidden := max(0, in.Parent.Tokens()-skill.Tokens(view)) // what the kernel is longer than its tokens
	d := promptData{View: withNewline(view), Fence: fenceFor(view), Kernel: in.Parent.KernelText(),
		MaxTokens: in.MaxTokens, Words: inWords(in.MaxTokens - hidden), Size: inWords(skill.Tokens(view)), Standing: in.Parent.Options().Instructions}
	if in.Other != nil {
		d.OtherView = withNewline(in.Other.View())
		d.Fence = fenceFor(view + "\n" + d.OtherView)
	}
	for i, e := range in.Evidence {
		d.Cases = append(d.Cases, promptCase{N: i + 1, Prompt: typed(e.Case.Prompt, maxPromptQuote), Answer: clip(e.Rollout.Answer, maxAnswerQuote),
			Failure: e.Rollout.Failure, Feedback: eachOnce(e.feedback()), Right: e.right(), Score: fmt.Sprintf("%.2f", e.Rollout.Quality), Before: before(e.Case)})
	}
	if e := in.Passing; e != nil {
		d.Passing = &promptCase{Prompt: typed(e.Case.Prompt, maxPromptQuote), Answer: clip(e.Rollout.Answer, maxAnswerQuote)}
	}
	for _, t := range in.Failing[:min(len(in.Failing), maxFailing)] {
		d.Failing = append(d.Failing, fmt.Sprintf("%d × %s", len(t.Cases), clip(t.Feedback, maxLineQuote)))
	}
	for _, text := range in.Asked[:min(len(in.Asked), maxAsked)] {
		d.Asked = append(d.Asked, clip(text, maxLineQuote))
	}
	for _, t := range latest(in.Rejected) {
		if t.Refused {
			d.Refused = append(d.Refused, t)
		} else {
			d.Attempts = append(d.Attempts, t)
		}
	}
	d.Attempts = d.Attempts[max(0, len(d.Attempts)-maxAttempts):]
	d.Refused = d.Refused[max(0, len(d.Refused)-maxAttempts):]
	return d
}

// inWords is a number of tokens, as skill.Tokens estimates them, in words: models count
// no tokens. Instructions have 1.3 to 1.5 of them a word.
func inWords(tokens int) int { return tokens * 2 / 3 }

// before is the end of the conversation that a request follows, the oldest
// turn first. It has people's and agents' turns only; roles by another name
// are left out.
func before(c *eval.Case) []eval.Message {
	var out []eval.Message
	for _, m := range c.Context {
		switch m.Role {
		case "user":
			out = append(out, eval.Message{Role: m.Role, Text: typed(m.Text, maxBeforeQuote)})
		case "assistant":
			out = append(out, eval.Message{Role: m.Role, Text: clip(m.Text, maxBeforeQuote)})
		}
	}
	return out[max(0, len(out)-maxBefore):]
}

// typed is a message of the user's, clipped to about n bytes. Lines that the
// user did not write follow "> ", below a line that explains it. That line is
// within the quotation: the prompt's own text does not depend on what is
// quoted.
func typed(text string, n int) string {
	var b strings.Builder
	for _, p := range ownwords.Parts(text) {
		if p.Own {
			b.WriteString(p.Text)
			continue
		}
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		if strings.TrimSpace(p.Text) != "" {
			b.WriteString("[pasted, origin: unknown]\n" + eval.Quote(p.Text) + "\n")
		}
	}
	text = b.String()
	if len(text) <= n {
		return text
	}
	tail := text[len(text)-n/3:]
	if line := strings.LastIndexByte(text[:len(text)-n/3], '\n') + 1; text[line] == '>' {
		tail = "> " + tail
	}
	return strings.ToValidUTF8(text[:n*2/3], "") + "\n[…]\n" + strings.ToValidUTF8(tail, "")
}

func render(name string, d promptData) (string, error) {
	var b strings.Builder
	if err := prompts().ExecuteTemplate(&b, name, d); err != nil {
		return "", fmt.Errorf("render prompt %s: %w", name, err)
	}
	return b.String(), nil
}

// inertLine is text on one line, for use after a quotation mark.
func inertLine(s string) string { return strings.Join(strings.Fields(eval.Inert(s)), " ") }

// clip shortens s to about n bytes, keeping its head and its tail.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n*2/3], "") + "\n[…]\n" + strings.ToValidUTF8(s[len(s)-n/3:], "")
}

func withNewline(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}
