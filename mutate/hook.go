package mutate

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/script"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// A Call is an event of a hook, as a mutator sees it: redacted, and short.
type Call struct {
	Tool    string
	Input   string // JSON
	Words   string // what the user said of it, "" if nothing
	Rule    string // as a model has read it in Words
	Decided string // what the hook's present text does with it
}

// Hook asks for a better script of a hook.
type Hook struct {
	Model eval.Model
	// Event is that at which the script is called.
	Event string
	// Missed should have been blocked, Wrong were blocked and should not; Right are decided
	// right, and Others are some of OthersCount that were blocked and of which nobody said
	// anything, among OthersOf.
	Missed, Wrong, Right, Others []Call
	OthersCount, OthersOf        int
	Weight                       float64  // how many misses a wrong block counts as
	Tried                        []string // earlier changes and what was wrong with them
}

// Name is the operator's, as records have it.
func (*Hook) Name() string { return "reflect" }

// hookReply is the most that a script and a sentence take, and the reasoning that some models
// count as output, in tokens.
const hookReply = 8000

// shortHook is how many lines a script may always get: what a person reads before it is put in
// place. A longer one may double.
const shortHook = 40

// Propose returns the next text of a script, and the sentence before it. seed makes repeated
// calls of a model differ. Errors: a *ReplyError about the reply, else the model's.
func (h *Hook) Propose(ctx context.Context, doc *skill.Document, seed int64) (*skill.Document, string, error) {
	text := doc.Render()
	mark := "#"
	if doc.Language() == script.JavaScript {
		mark = "//"
	}
	lines := bytes.Count(text, []byte("\n"))
	var user, system strings.Builder
	data := struct {
		*Hook
		Language            script.Language
		Script, Fence, Mark string
		Lines, Aim          int
	}{h, doc.Language(), withNewline(string(text)), fenceFor(string(text)), mark, lines, min(script.MaxLines, max(shortHook, 2*lines))}
	if err := prompts().ExecuteTemplate(&user, "hook.txt", data); err != nil {
		return nil, "", fmt.Errorf("render prompt: %w", err)
	}
	if err := prompts().ExecuteTemplate(&system, "hook_system.txt", nil); err != nil {
		return nil, "", fmt.Errorf("render prompt: %w", err)
	}
	c, err := h.Model.Complete(ctx, eval.Prompt{System: strings.TrimSpace(system.String()), User: user.String(), MaxTokens: hookReply, Seed: seed})
	if err != nil {
		return nil, "", fmt.Errorf("ask the mutator: %w", err)
	}
	block, err := fencedBlock(c)
	if err != nil {
		return nil, "", err
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		block = strings.TrimSuffix(block, "\n")
	}
	block = endedAs(string(text), block)
	next, err := skill.Parse([]byte(block), doc.Options())
	if err != nil {
		return nil, "", &ReplyError{Reason: err.Error()}
	}
	if n := strings.Count(block, "[redacted:"); n > strings.Count(string(text), "[redacted:") {
		return nil, "", &ReplyError{Reason: "it has a placeholder in it that stands for a secret"}
	}
	if next.Hash() == doc.Hash() {
		return nil, "", &ReplyError{Reason: "nothing changed"}
	}
	why, _, _ := strings.Cut(strings.TrimSpace(c.Text), "\n")
	return next, inertLine(why), nil
}

// endedAs ends the lines of a reply as a script's: models write none with a carriage return, and
// without it each line of the kernel would be another one.
func endedAs(text, block string) string {
	if !strings.Contains(text, "\r\n") {
		return block
	}
	plain := map[string]bool{} // lines without one, such as the first
	for line := range strings.SplitSeq(text, "\n") {
		plain[line] = true
	}
	lines := strings.SplitAfter(block, "\n")
	for i, line := range lines {
		if is, ended := strings.CutSuffix(line, "\n"); ended && !strings.HasSuffix(is, "\r") && (is == "" || !plain[is]) {
			lines[i] = is + "\r\n"
		}
	}
	return strings.Join(lines, "")
}
