package codex

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// Complete returns the reply to one prompt, without tools and skills, in an empty
// folder. The program accepts neither a limit of tokens nor a seed: p.MaxTokens and
// p.Seed have no effect.
func (a *Agent) Complete(ctx context.Context, p eval.Prompt) (out eval.Completion, err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	s, err := replay.Open(eval.Task{}, a.layout())
	if err != nil {
		return out, fmt.Errorf("ask codex: %w", err)
	}
	defer func() { _ = s.Close() }()
	instructions := p.System
	if strings.TrimSpace(instructions) == "" {
		// It refuses an empty file, and has a long text of its own without one.
		instructions = "Reply to the user's message."
	}
	file := fileOf(s, "instructions.md")
	if err := os.WriteFile(file, []byte(instructions), 0o600); err != nil {
		return out, fmt.Errorf("ask codex: %w", err)
	}
	models, err := a.catalogue(ctx)
	if err != nil {
		return out, err
	}
	catalogue := ""
	if models != nil {
		catalogue = fileOf(s, "models.json")
		if err := os.WriteFile(catalogue, models, 0o600); err != nil {
			return out, fmt.Errorf("ask codex: %w", err)
		}
	}
	r, err := a.exec(ctx, s, process.Command{Dir: s.Workspace, Args: a.textArgs(s, file, catalogue), Stdin: []byte(p.User)})
	if err != nil {
		return out, err
	}
	out = eval.Completion{Text: r.answer, Finish: "stop", Usage: r.usage.normal()}
	out.CostUSD = a.c.Prices.USD(out.Usage)
	switch {
	case r.verdict.cut:
		out.Finish = "length"
	case r.failure != "" || !r.ended:
		return out, &eval.InfraError{Kind: eval.BadRequest, Err: errors.New(r.verdict.text)}
	}
	return out, nil
}

// catalogue is the program's list of models without tools, nil if it needs none. It is
// read once.
func (a *Agent) catalogue(ctx context.Context) ([]byte, error) {
	m := &a.models
	m.Lock()
	defer m.Unlock()
	if m.made {
		return m.text, nil
	}
	list, err := a.ask(ctx, "debug", "models", "--bundled")
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// A version without that command: its tools cannot be removed, and the
		// read-only sandbox has to be enough.
		m.made = true
		return nil, nil
	}
	m.text, err = catalogueWithoutTools(list, a.c.Model)
	if err != nil {
		return nil, fmt.Errorf("read codex's models: %w", err)
	}
	m.made = true
	return m.text, nil
}

// knock requests the server's list of models.
func (a *Agent) knock(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 15*time.Second, errors.New("no answer within 15 s"))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base()+"/models", nil)
	if err != nil {
		return fmt.Errorf("ping codex: %w", err)
	}
	if a.login.key != "" {
		req.Header.Set("Authorization", "Bearer "+a.login.key)
	}
	res, err := agent.HTTP(a.base()).Do(req)
	if err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return ctx.Err()
		}
		return eval.Infraf(eval.Unreachable, "reach codex's model: %w", err)
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, 1<<20) // so that the connection can be used again
	if res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden {
		return eval.Infraf(eval.Auth, "codex's model at %s refuses the key (status %d): %s", req.URL.Host, res.StatusCode, loginHint)
	}
	return nil // a server that lists no models is available
}
