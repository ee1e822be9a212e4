package check

import (
	"context"
	_ "embed"
	"errors"
	"strings"
	"sync"
	"text/template"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/eval/plain"
)

//go:embed prompts/blind.txt
var blindText string

var blindPrompt = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("blind").Funcs(template.FuncMap{"quote": plain.Quote}).Parse(blindText))
})

// BlindVersion names the prompt of a Comparison. What it says of work is left out: a question
// about work is another one, because the work is part of what names an answer.
var BlindVersion = sync.OnceValue(func() string { return shortHash(withoutWork(blindText)) })

// A Comparison is two answers to one request in the order in which a judge is shown
// them. The judge is not told which text gave which answer. It is not shown the recorded
// answer either: the incumbent gave that as a rule, so it would favour the incumbent.
type Comparison struct {
	Request string // with the conversation before it
	Files   string // those that came with it
	First   string
	Second  string
	// What was done for each answer, see Work.Text; "" if nobody recorded it.
	FirstWork, SecondWork string
}

// Swapped is the comparison in the other order.
func (c Comparison) Swapped() Comparison {
	c.First, c.Second, c.FirstWork, c.SecondWork = c.Second, c.First, c.SecondWork, c.FirstWork
	return c
}

// MaxShown is how much of each text a judge is shown, in runes: as much as is kept of a
// recorded answer.
const MaxShown = 12000

// Shown is c as a judge may see it: redacted, inert, and each text cut to the same
// bound. Secrets are looked for first: half of one looks like none. The work of one answer
// is not shown without that of the other.
func (c Comparison) Shown(redact func(string) string) Comparison {
	for _, text := range []*string{&c.Request, &c.Files, &c.First, &c.Second, &c.FirstWork, &c.SecondWork} {
		*text = cut(strings.TrimSpace(plain.Inert(redact(plain.Inert(*text)))))
	}
	if c.FirstWork == "" || c.SecondWork == "" {
		c.FirstWork, c.SecondWork = "", ""
	}
	return c
}

// Equal reports whether both answers look the same.
func (c Comparison) Equal() bool { return c == c.Swapped() }

// cut shortens a text to MaxShown runes and a mark. It keeps the end too, which often
// holds the result.
func cut(text string) string {
	if utf8.RuneCountInString(text) <= MaxShown {
		return text
	}
	r := []rune(text)
	return string(r[:MaxShown*3/4]) + "\n[cut]\n" + string(r[len(r)-MaxShown/4:])
}

// Prefer asks which answer of c, which is Shown, serves the request better: 1 is the
// first, -1 the second, 0 neither. known is false if no reply could be read; an error is
// the model's.
func (c Comparison) Prefer(ctx context.Context, ask func(context.Context, Prompt) (Reply, error)) (vote int, known bool, err error) {
	fault, err := put(ctx, ask, func(again string) (Prompt, error) {
		data := struct {
			Comparison
			Mark, Again string
		}{c, markOf(c.texts()...), again}
		return written(blindPrompt(), data.Mark, data)
	}, func(r Reply) (err error) {
		vote, err = readVote(r)
		return err
	})
	return vote, err == nil && fault == nil, err
}

// texts are those that differ between comparisons.
func (c Comparison) texts() []string {
	texts := []string{c.Request, c.Files, c.First, c.Second}
	if c.FirstWork != "" {
		texts = append(texts, c.FirstWork, c.SecondWork)
	}
	return texts
}

// readVote parses a judge's reply to a Comparison.
func readVote(reply Reply) (vote int, err error) {
	var v struct {
		Better string `json:"better"`
	}
	if err := readObject(reply, &v, "a reason and which is better"); err != nil {
		return 0, err
	}
	switch strings.ToLower(strings.TrimSpace(v.Better)) {
	case "first":
		return 1, nil
	case "second":
		return -1, nil
	case "neither":
		return 0, nil
	}
	return 0, errors.New(`what is better is not "first", "second" or "neither"`)
}
