package timer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
)

// pingWait is how long an agent may take to answer.
const pingWait = 2 * time.Minute

// Ping starts the night's own command with --ping and the night's environment: nothing of
// this terminal's. It returns what that prints.
func (t *Timer) Ping(ctx context.Context) (string, error) {
	limited, cancel := context.WithTimeout(ctx, pingWait)
	defer cancel()
	r, err := process.Run(limited, process.Command{Path: t.Program, Args: append(append([]string{}, t.Args...), "--ping"), Dir: "/", Env: t.Env, Grace: time.Second})
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case limited.Err() != nil:
		return "", fmt.Errorf("the agent did not answer within %v", pingWait)
	case err != nil:
		return "", fmt.Errorf("start a night: %w", err)
	case r.Exit == 0:
		return strings.TrimSpace(plain.Text(string(r.Stdout))), nil
	}
	why, hint := "", ""
	for line := range strings.Lines(r.Stderr) {
		line = plain.Line(strings.TrimSpace(line))
		if s, ok := strings.CutPrefix(line, "evolve: "); ok {
			why = s
		} else if s, ok := strings.CutPrefix(line, "hint: "); ok {
			hint = s
		}
	}
	if why == "" {
		why = fmt.Sprintf("exit code %d", r.Exit)
	}
	return "", problem.Hinted(errors.New(why), hint)
}
