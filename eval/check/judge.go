package check

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"text/template"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

//go:embed prompts/judge.txt
var judgeText string

var judgePrompt = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("judge").Funcs(template.FuncMap{"quote": plain.Quote}).Parse(judgeText))
})

// JudgeVersion names the judge's prompt in a grader's identity, and JudgeWorkVersion the one
// that shows what the agent did.
var (
	JudgeVersion     = sync.OnceValue(func() string { return shortHash(withoutWork(judgeText)) })
	JudgeWorkVersion = sync.OnceValue(func() string { return shortHash(judgeText) })
)

// withoutWork is a prompt's template without what it says of work. A prompt that shows none is
// the same whatever that is, and keeps its name.
func withoutWork(text string) string { return ofWork.ReplaceAllString(text, "") }

var ofWork = lazyregexp.New(`(?s)\{\{- if \.\w*Work\}\}.*?\{\{- end\}\}\n?`)

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// A Prompt is a request to a judge.
type Prompt struct {
	System, User string
	Seed         int64
}

// A Reply is a judge's reply.
type Reply struct {
	Text string
	Cut  bool // it was cut off
}

// A verdict is the parsed content of a judge's reply.
type verdict struct {
	Score  float64
	Reason string
}

type judge struct{}

func (judge) Spec() Spec {
	return Spec{Name: Judge, Fields: []string{"rubric"}, Asks: true, Text: "what the judge is asked",
		Example: `"rubric":"one sentence"`, Means: "a reader finds that the answer meets the rubric"}
}

func (judge) Validate(*Check) error { return nil }

func (judge) Explain(k *Check) string { return k.Rubric }

// Grade asks the model about the answer. If no reply can be read, the check is missing:
// not an error and not a 0.
func (judge) Grade(ctx context.Context, k *Check, s *Subject) (Result, error) {
	var v verdict
	fault, err := put(ctx, s.Ask, func(again string) (Prompt, error) { return promptOf(k, s, again) }, func(r Reply) (err error) {
		v, err = readVerdict(r)
		return err
	})
	switch {
	case err != nil:
		return Result{}, err
	case fault != nil:
		return Result{Missing: true, Evidence: "the judge's reply could not be read: " + fault.Error()}, nil
	}
	v.Reason = sentence(v.Reason)
	r := Result{Score: v.Score, Evidence: v.Reason}
	if v.Score < 1 {
		r.Feedback = k.Feedback
		if r.Feedback == "" {
			r.Feedback = strings.TrimSpace(k.Rubric + "\n" + v.Reason)
		}
	}
	return r, nil
}

// put asks a model, and once more if read finds a fault in the reply; again is that
// fault. fault is that of the second reply.
func put(ctx context.Context, ask func(context.Context, Prompt) (Reply, error), prompt func(again string) (Prompt, error), read func(Reply) error) (fault, err error) {
	again := ""
	for try := range 2 {
		p, err := prompt(again)
		if err != nil {
			return nil, fmt.Errorf("write the judge's prompt: %w", err)
		}
		// With the same seed a model would only repeat itself.
		p.Seed += int64(try)
		reply, err := ask(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("ask the judge: %w", err)
		}
		if fault = read(reply); fault == nil {
			return nil, nil
		}
		again = fault.Error()
	}
	return fault, nil
}

// maxReason is how much of a judge's reason is kept, in runes: it was asked for one
// short sentence, which is shown to the mutator.
const maxReason = 500

// sentence is text on one line, without invisible characters.
func sentence(text string) string {
	text = strings.Join(strings.Fields(plain.Inert(text)), " ")
	if r := []rune(text); len(r) > maxReason {
		return string(r[:maxReason-1]) + "…"
	}
	return text
}

func promptOf(k *Check, s *Subject, again string) (Prompt, error) {
	data := struct{ Mark, Prompt, Reference, Answer, Work, Rubric, Again string }{
		Prompt: s.Redact(s.Prompt), Reference: s.Redact(s.Reference),
		Answer: s.Redact(s.Answer), Rubric: s.Redact(k.Rubric), Again: again,
	}
	texts := []string{data.Prompt, data.Reference, data.Answer, data.Rubric}
	if s.ShowWork && s.Work != nil {
		data.Work = cut(s.Redact(plain.Inert(s.Work.Text())))
		texts = append(texts, data.Work)
	}
	data.Mark = markOf(texts...)
	return written(judgePrompt(), data.Mark, data)
}

// markOf is the mark in the fences around texts, each of which is also quoted line by
// line. It depends on all of them, so that none can look like the end of its own
// quotation, and the prompt is the same for the same texts.
func markOf(texts ...string) string { return shortHash(strings.Join(texts, "\x00")) }

// written is a prompt by its template.
func written(t *template.Template, mark string, data any) (Prompt, error) {
	var system, user bytes.Buffer
	if err := errors.Join(t.ExecuteTemplate(&system, "system", data), t.ExecuteTemplate(&user, "user", data)); err != nil {
		return Prompt{}, err
	}
	seed := sha256.Sum256([]byte(mark))
	return Prompt{System: system.String(), User: user.String(), Seed: int64(binary.BigEndian.Uint32(seed[:]) >> 1)}, nil
}

// readVerdict parses a judge's reply: one complete JSON object, in a code fence or not,
// with a score in [0,1].
func readVerdict(reply Reply) (verdict, error) {
	var v struct {
		Score  *float64 `json:"score"`
		Reason string   `json:"reason"`
	}
	if err := readObject(reply, &v, "a score and a reason"); err != nil {
		return verdict{}, err
	}
	switch {
	case v.Score == nil:
		return verdict{}, errors.New("it has no score")
	case *v.Score < 0 || *v.Score > 1:
		return verdict{}, errors.New("its score is not between 0 and 1")
	}
	return verdict{*v.Score, v.Reason}, nil
}

// readObject reads the one JSON object that a reply is.
func readObject(reply Reply, v any, with string) error {
	if reply.Cut {
		return errors.New("it was cut off")
	}
	dec := json.NewDecoder(strings.NewReader(unfence(reply.Text)))
	if err := dec.Decode(v); err != nil {
		return errors.New("it is not a JSON object with " + with)
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("it has text after the JSON object")
	}
	return nil
}
