package second

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// How much one call may be asked. More is not read, and so waits for the owner.
const (
	maxItems  = 300
	maxBytes  = 64 << 10 // of all items
	maxReply  = 64 << 10 // of a reply, in bytes
	maxWords  = 200      // of an answer's, in bytes
	maxAround = 240      // of what is around an item, in bytes
	maxSaid   = 5        // answers that a reason quotes
)

// A Reader asks a model about candidates.
type Reader struct{ Model eval.Model }

// A Bounded model keeps no more of a reply than can be one; a longer one counts as cut off.
type Bounded struct{ eval.Model }

// Complete asks the model.
func (b Bounded) Complete(ctx context.Context, p eval.Prompt) (eval.Completion, error) {
	c, err := b.Model.Complete(ctx, p)
	if len(c.Text) > maxReply {
		c.Text, c.Finish = strings.ToValidUTF8(c.Text[:maxReply], ""), "length"
	}
	return c, err
}

// An Answer says that an item is not harmless.
type Answer struct {
	Item
	Line  string // of the kernel, or what the item reaches; the model's words
	Words string // why; the model's words
}

// String is the answer for people: what is quoted, and what the model said of it.
func (a Answer) String() string {
	s := a.Item.String()
	if a.Line != "" {
		s += ": touches «" + a.Line + "»"
	}
	if a.Words != "" {
		s += " (" + a.Words + ")"
	}
	return s
}

// A Verdict is what a Reader found. A candidate is clear only if all fields are zero.
type Verdict struct {
	Held   []Answer
	TooBig string // that it changes too much to be read at once, so that no model was asked
	Unread string // why the model's replies could not be used
}

// Rule is the rule of a candidate that waits for its owner because of a Verdict.
const Rule = "second-reader"

// Reason says for the owner why a candidate waits, "" if it is clear.
func (v Verdict) Reason() string {
	if why := v.TooBig + v.Unread; why != "" {
		return Rule + ": " + why
	}
	var said []string
	for i, a := range v.Held {
		if i == maxSaid {
			said = append(said, fmt.Sprintf("and %d more", len(v.Held)-i))
			break
		}
		said = append(said, a.String())
	}
	if len(said) == 0 {
		return ""
	}
	return Rule + ": " + strings.Join(said, "; ")
}

// Needed reports whether candidates of a text are read: without lines that the owner has
// locked there is nothing to weaken. Imports and shell commands are locked by themselves.
func Needed(root *skill.Document) bool {
	body := len(root.Render()) - len(root.Body())
	return slices.ContainsFunc(root.Kernel(), func(s skill.Span) bool {
		return s.Start >= body && s.Reason != skill.ImportReason && s.Reason != skill.ShellReason
	})
}

// Read asks about what child changes in root, the owner's text, beyond what the owner has
// approved: in one call, or in two if the first reply has not one answer for every item. The
// error is the model's.
func (r *Reader) Read(ctx context.Context, root, child *skill.Document, approved ...*skill.Document) (Verdict, error) {
	items := Items(root, child, approved...)
	if len(items) == 0 {
		return Verdict{}, nil
	}
	size := 0
	for _, i := range items {
		size += len(i.Text)
	}
	if len(items) > maxItems || size > maxBytes {
		return Verdict{TooBig: fmt.Sprintf("its %d changes are too many for one reading", len(items))}, nil
	}
	p, err := prompt(root, items, "")
	if err != nil {
		return Verdict{}, err
	}
	var fault string
	for range 2 {
		c, err := r.Model.Complete(ctx, p)
		if err != nil {
			return Verdict{}, fmt.Errorf("ask the second reader: %w", err)
		}
		held, reason := parse(c, items)
		if reason == "" {
			return Verdict{Held: held}, nil
		}
		fault = reason
		if p, err = prompt(root, items, reason); err != nil {
			return Verdict{}, err
		}
	}
	return Verdict{Unread: "the second reader's reply could not be used: " + fault}, nil
}

//go:embed prompts/*.txt
var files embed.FS

var prompts = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{"quote": eval.Quote, "inc": func(n int) int { return n + 1 }}).ParseFS(files, "prompts/*.txt"))
})

// prompt asks about items. fault is what was wrong with the reply to the same prompt, "" if
// there was none.
func prompt(root *skill.Document, items []Item, fault string) (eval.Prompt, error) {
	what := "skill"
	if root.Options().Instructions {
		what = "instructions file"
	}
	data := struct {
		What, View, Fence, Fault string
		Front                    string
		Kernel                   []skill.Placeholder
		Items                    []Item
	}{What: what, View: labelled(root.View(), root.KernelText()), Fault: fault, Items: items}
	raw := root.Render()
	data.Front = string(raw[:len(raw)-len(root.Body())])
	for i, k := range root.KernelText() {
		data.Kernel = append(data.Kernel, skill.Placeholder{Token: label(i), Text: k.Text})
	}
	longest := data.View + data.Front
	for _, k := range data.Kernel {
		longest += "\n" + k.Text
	}
	for _, i := range items {
		longest += "\n" + i.Text + "\n" + i.Section + "\n" + i.LeadIn + "\n" + i.Above + "\n" + i.Below
	}
	data.Fence = fence(longest)
	var system, user strings.Builder
	for name, to := range map[string]*strings.Builder{"system.txt": &system, "user.txt": &user} {
		if err := prompts().ExecuteTemplate(to, name, data); err != nil {
			return eval.Prompt{}, fmt.Errorf("render prompt %s: %w", name, err)
		}
	}
	// Some models count their reasoning as output.
	return eval.Prompt{System: strings.TrimSpace(system.String()), User: user.String(), MaxTokens: 4000 + 60*len(items)}, nil
}

// fence is a fence that is longer than any in a text.
func fence(text string) string {
	longest, run := 2, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}

var answerLine = lazyregexp.New(`(?i)^(\d{1,4}) *\| *(yes|no) *(?:\|([^|]*)(?:\|(.*))?)?$`)

// parse reads a reply: one line for each item, in order, and nothing else but blank lines
// and one fence around them. reason is why it cannot be used.
func parse(c eval.Completion, items []Item) (held []Answer, reason string) {
	if c.Finish == "length" {
		return nil, "it was cut off at the model's output limit"
	}
	next := 0
	for line := range strings.Lines(c.Text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "```") && strings.Trim(line[3:], "`abcdefghijklmnopqrstuvwxyz") == "" {
			continue
		}
		m := answerLine.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Sprintf("«%s» is no answer of the form asked for", clipped(line, 80))
		}
		if m[1] != strconv.Itoa(next+1) || next == len(items) {
			return nil, fmt.Sprintf("an answer to item %s is where item %d is next, of %d", m[1], next+1, len(items))
		}
		if strings.EqualFold(m[2], "yes") {
			held = append(held, Answer{items[next], said(m[3]), said(m[4])})
		}
		next++
	}
	if next < len(items) {
		return nil, fmt.Sprintf("it has answers to %d of %d items", next, len(items))
	}
	return held, ""
}

// said is a model's words for a person, "" if it gave none.
func said(s string) string {
	s = clipped(oneLine(s), maxWords)
	if s == "-" {
		return ""
	}
	return s
}

func clipped(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
