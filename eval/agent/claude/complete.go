package claude

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// Complete returns the reply to one prompt, without tools, skills and the program's own
// instructions: the server gets two lines of the program's, the system text unchanged,
// a note on the environment (folder, platform, date) that cannot be turned off, and the
// user text. Nothing can be called, so there is no sandbox.
//
// If a reply is cut off, the program has it continued, three times at most, each with
// MaxTokens; the parts are joined. Finish is "length" if that was not enough, and
// "refusal" if the model refused. An empty reply is an *eval.InfraError of kind
// ServerError.
func (a *Agent) Complete(ctx context.Context, p eval.Prompt) (eval.Completion, error) {
	if err := cmp.Or(ctx.Err(), a.window.full(time.Now())); err != nil {
		return eval.Completion{}, err
	}
	stage, err := replay.Open(eval.Task{}, replay.Layout{Config: ".claude", Program: a.layout.Program})
	if err != nil {
		return eval.Completion{}, fmt.Errorf("complete: %w", err)
	}
	defer func() { _ = stage.Close() }() // it holds nothing to lose
	// A file, because an argument has a limit.
	system := filepath.Join(stage.Root, "system.txt")
	if err := os.WriteFile(system, []byte(p.System), 0o600); err != nil {
		return eval.Completion{}, fmt.Errorf("complete: %w", err)
	}
	var limit []string
	if p.MaxTokens > 0 {
		limit = []string{"CLAUDE_CODE_MAX_OUTPUT_TOKENS=" + strconv.Itoa(p.MaxTokens)}
	}
	s, res, err := a.run(ctx, process.Command{
		Path: a.layout.Program.Path, Dir: stage.Workspace, Stdin: []byte(plain(p.User)),
		Args: a.args("--tools", "", "--disable-slash-commands", "--setting-sources", "", "--max-turns", "1",
			"--system-prompt-file", system),
		Env: a.env(stage, limit...),
	})
	switch {
	case ctx.Err() != nil:
		return eval.Completion{}, s.ended(ctx.Err())
	case err != nil:
		return eval.Completion{}, fmt.Errorf("complete: %w", err)
	}
	o := s.outcome(time.Now())
	if o.err != nil {
		return eval.Completion{}, a.explain(o.err, res)
	}
	out := eval.Completion{Text: s.answer(), Finish: "stop", Usage: s.usage(), CostUSD: s.cost(a.c.Prices)}
	switch {
	case o.cut:
		out.Text, out.Finish = s.reply.String(), "length"
	case o.refused:
		out.Text, out.Finish = "", "refusal"
	case o.tooLong:
		return eval.Completion{}, &eval.InfraError{Kind: eval.BadRequest, Err: errors.New(o.failure)}
	case o.failure != "":
		return eval.Completion{}, &eval.InfraError{Kind: eval.ServerError, Err: errors.New(o.failure)}
	}
	return out, nil
}
