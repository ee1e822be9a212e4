package eval

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"text/template"
)

//go:embed prompts/judge.txt
var judgeText string

var judgePrompt = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("judge").Funcs(template.FuncMap{"quote": Quote}).Parse(judgeText))
})

// judgeVersion names the prompt in a grader's identity.
var judgeVersion = shortHash(judgeText)

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// A verdict is what a judge replies.
type verdict struct {
	Score  float64
	Reason string
}

// judge asks the model what it thinks of the answer, and once more where the
// reply cannot be read. bill collects the calls, answered or not. An answer
// that stays unreadable is a missing check, not an error and not a 0.
func (g *Checks) judge(ctx context.Context, c *Case, k *Check, answer string, bill *Grade) (CheckResult, error) {
	again := ""
	for try := range 2 {
		p, err := g.judgePrompt(c, k, answer, again)
		if err != nil {
			return CheckResult{}, err
		}
		// A model that obeys its seed would only repeat itself.
		p.Seed += int64(try)
		reply, err := g.Judge.Complete(ctx, p)
		if err != nil {
			if !IsPending(err) {
				bill.lose(Cost{reply.Usage, reply.CostUSD})
			}
			return CheckResult{}, fmt.Errorf("ask the judge: %w", err)
		}
		bill.spend(reply)
		v, err := readVerdict(reply)
		if err == nil {
			v.Reason = sentence(v.Reason)
			r := CheckResult{Score: v.Score, Evidence: v.Reason}
			if v.Score < 1 {
				r.Feedback = k.Feedback
				if r.Feedback == "" {
					r.Feedback = strings.TrimSpace(k.Rubric + "\n" + v.Reason)
				}
			}
			return r, nil
		}
		again = err.Error()
	}
	return CheckResult{Missing: true, Evidence: "the judge's reply could not be read: " + again}, nil
}

// maxReason is how much of a judge's reason is kept, in runes: it was asked for
// one short sentence, and what it says is shown to the mutator.
const maxReason = 500

// sentence is text on one line, without what a reader does not see.
func sentence(text string) string {
	text = strings.Join(strings.Fields(Inert(text)), " ")
	if r := []rune(text); len(r) > maxReason {
		return string(r[:maxReason-1]) + "…"
	}
	return text
}

// spend adds a judge's reply to the grade; a sum with an unknown part is unknown.
func (g *Grade) spend(c Completion) {
	rest := atLeast(Cost{c.Usage, c.CostUSD})
	g.lose(Cost{rest.LostUsage, rest.LostUSD})
	c.Usage, c.CostUSD = believable(c.Usage, c.CostUSD)
	if g.JudgeCalls == 0 {
		g.JudgeUsage, g.JudgeUSD = c.Usage, c.CostUSD
	} else {
		g.sum(&g.JudgeUsage, &g.JudgeUSD, Cost{c.Usage, c.CostUSD})
	}
	g.JudgeCalls++
}

func (g *Checks) judgePrompt(c *Case, k *Check, answer, again string) (Prompt, error) {
	data := struct{ Mark, Prompt, Reference, Answer, Rubric, Again string }{
		Prompt: redact(g.Redactor, c.Prompt), Reference: redact(g.Redactor, c.Reference),
		Answer: redact(g.Redactor, answer), Rubric: redact(g.Redactor, k.Rubric), Again: again,
	}
	// All of it is quoted line by line. The mark, which depends on all that it
	// encloses, keeps a text from looking like the end of its own quotation even
	// so, and the prompt is the same for the same answer.
	data.Mark = shortHash(strings.Join([]string{data.Prompt, data.Reference, data.Answer, data.Rubric}, "\x00"))
	var system, user bytes.Buffer
	if err := judgePrompt().ExecuteTemplate(&system, "system", data); err != nil {
		return Prompt{}, fmt.Errorf("write judge prompt: %w", err)
	}
	if err := judgePrompt().ExecuteTemplate(&user, "user", data); err != nil {
		return Prompt{}, fmt.Errorf("write judge prompt: %w", err)
	}
	seed := sha256.Sum256([]byte(data.Mark))
	return Prompt{System: system.String(), User: user.String(), Seed: seedOf(seed)}, nil
}

// readVerdict reads a judge's reply: one JSON object, in a code fence or not,
// whole, with a score in [0,1].
func readVerdict(reply Completion) (verdict, error) {
	if reply.Finish == "length" {
		return verdict{}, errors.New("it was cut off")
	}
	var v struct {
		Score  *float64 `json:"score"`
		Reason string   `json:"reason"`
	}
	dec := json.NewDecoder(strings.NewReader(unfence(reply.Text)))
	if err := dec.Decode(&v); err != nil {
		return verdict{}, errors.New("it is not a JSON object with a score and a reason")
	}
	if _, err := dec.Token(); err != io.EOF {
		return verdict{}, errors.New("it has text after the JSON object")
	}
	switch {
	case v.Score == nil:
		return verdict{}, errors.New("it has no score")
	case *v.Score < 0 || *v.Score > 1:
		return verdict{}, errors.New("its score is not between 0 and 1")
	}
	return verdict{*v.Score, v.Reason}, nil
}

// unfence takes the one code fence off that encloses the whole text.
func unfence(text string) string {
	text = strings.TrimSpace(text)
	inner, open := strings.CutPrefix(text, "```")
	inner, closed := strings.CutSuffix(inner, "```")
	if !open || !closed {
		return text
	}
	_, inner, multiline := strings.Cut(inner, "\n") // the language
	if !multiline {
		return text
	}
	return strings.TrimSpace(inner)
}
