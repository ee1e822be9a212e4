package promptcorpus

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/handoff"
)

// stored answers with the replies that are kept for a situation.
type stored struct {
	name     string
	replies  string                   // the folder that they are kept in
	requests string                   // the folder of handoff that asks for those that are missing; "" for none
	madeUp   func(eval.Prompt) string // in place of all of these

	sent    int
	prompts []eval.Prompt
	texts   []string // of the replies
	missing []string // why there is none
}

func newStored(name string) *stored {
	s := &stored{name: name, replies: os.Getenv("EVOLVE_PROMPTS_REPLIES"), requests: os.Getenv("EVOLVE_PROMPTS_REQUESTS")}
	if s.replies == "" {
		s.replies = filepath.Join("testdata", "replies")
	}
	return s
}

func (*stored) Identity() eval.Identity { return eval.Identity{Backend: "stored"} }

// Complete returns the reply that is kept for this prompt. If it is missing, it is asked for,
// or taken from where it was asked for.
func (s *stored) Complete(ctx context.Context, p eval.Prompt) (eval.Completion, error) {
	s.sent++
	s.prompts = append(s.prompts, p)
	if s.madeUp != nil {
		return s.reply(s.madeUp(p))
	}
	path := filepath.Join(s.replies, s.name+".txt")
	if s.sent > 1 {
		path = filepath.Join(s.replies, fmt.Sprintf("%s.%d.txt", s.name, s.sent))
	}
	sum := sha256.Sum256([]byte(p.System + "\x00" + p.User))
	head := "prompt " + hex.EncodeToString(sum[:])
	data, err := os.ReadFile(path)
	was, text, _ := strings.Cut(string(data), "\n")
	if err == nil && was == head {
		return s.reply(text)
	}
	why := "no reply is kept"
	if err == nil {
		why = "the reply is to another prompt"
	}
	if s.requests != "" {
		why += ", and its request is not answered yet"
		a, err := handoff.New(handoff.Config{Dir: s.requests, Run: s.name})
		if err != nil {
			return eval.Completion{}, err
		}
		got, err := a.Complete(ctx, p)
		if err == nil && got.Finish == "stop" {
			text = got.Text + "\n"
			if err := os.MkdirAll(s.replies, 0o755); err != nil {
				return eval.Completion{}, err
			}
			if err := os.WriteFile(path, []byte(head+"\n"+text), 0o644); err != nil {
				return eval.Completion{}, err
			}
			return s.reply(text)
		}
		if err != nil && !eval.IsPending(err) {
			return got, err
		}
	}
	s.missing = append(s.missing, path+": "+why)
	return eval.Completion{}, eval.Infraf(eval.Pending, "%s", why)
}

func (s *stored) reply(text string) (eval.Completion, error) {
	text = strings.TrimSuffix(text, "\n")
	s.texts = append(s.texts, text)
	return eval.Completion{Text: text, Finish: "stop"}, nil
}
