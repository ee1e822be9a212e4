package pi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// Complete returns the reply to one prompt. The program has no tools, no skills and no
// instructions but Prompt.System; it adds the name of an empty folder. Seed is not
// passed on: the program accepts none.
func (a *Agent) Complete(ctx context.Context, p eval.Prompt) (eval.Completion, error) {
	stage, err := replay.Open(eval.Task{}, a.layout())
	if err != nil {
		return eval.Completion{}, err
	}
	defer stage.Close()
	system := p.System
	if strings.TrimSpace(system) == "" {
		system = "\n" // an empty one brings in the program's own
	}
	file := filepath.Join(stage.Root, "system.md") // not an argument: those are short, and public
	if err := os.WriteFile(file, []byte(system), 0o600); err != nil {
		return eval.Completion{}, fmt.Errorf("write the system prompt: %w", err)
	}
	s := &stream{dir: stage.Workspace, now: a.now}
	res, err := a.drive(ctx, stage, s, nil, p.MaxTokens, p.User, []string{"--system-prompt", file,
		"--no-tools", "--no-skills", "--no-context-files", "--no-extensions", "--no-prompt-templates", "--no-themes",
		"--no-approve", "--no-session"})
	if err != nil {
		return eval.Completion{}, a.keys.Error(err)
	}
	if res.Overflow {
		return eval.Completion{}, eval.Infraf(eval.ServerError, "pi printed more than %d MiB", maxOutput>>20)
	}
	failure, err := s.outcome(res.Stderr)
	if err != nil {
		return eval.Completion{}, a.keys.Error(err)
	}
	if s.last.StopReason == "error" {
		// The text was refused: every other call with it would fail too.
		return eval.Completion{}, a.keys.Error(&eval.InfraError{Kind: eval.BadRequest, Err: errors.New(failure)})
	}
	c := eval.Completion{Text: a.keys.Text(s.last.text()), Finish: s.last.StopReason}
	c.Usage, c.CostUSD = s.took(a.conf.Prices)
	return c, nil
}
