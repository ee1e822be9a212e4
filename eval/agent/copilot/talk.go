package copilot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/github/copilot-sdk/go"
	"github.com/github/copilot-sdk/go/rpc"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// patience is how long the SDK has to finish once the program is gone. Every request of
// it is answered then, so it needs no time.
const patience = 15 * time.Second

// A talk is one session with a program of its own.
type talk struct {
	agent   *Agent
	stage   *replay.Stage
	sandbox *process.Sandbox // nil: none
	config  *sdk.SessionConfig
	read    *reader
	offered map[string]string // skills that may stay
	// candidate is the one of them that has to load; "" for none.
	candidate string
	call      string // the skill that is called with the prompt; "" for none
	prompt    string
}

// hold starts the program, sends the prompt, and returns when the session is idle, or
// cannot become so. The error is ctx's or an *eval.InfraError; the model's reply is in
// read. Nothing is left running.
func (k *talk) hold(ctx context.Context) error {
	c, err := k.start()
	if err != nil {
		return err
	}
	defer k.agent.prog.sweep()
	defer c.close()
	// The SDK is not told when ctx ends, because it never releases interrupted
	// requests. Instead the program ends, and the bridge answers in its place.
	stop := context.AfterFunc(ctx, c.end)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- eval.Shielded(func() error { return k.speak(ctx, c) }) }()
	select {
	case err = <-done:
	case <-c.bridge.ended:
		select {
		case err = <-done:
		case <-time.After(patience):
			err = errors.New("the SDK does not come to its end")
		}
	}
	if err != nil && ctx.Err() != nil {
		return k.expired(ctx)
	}
	return err
}

// expired is ctx's error, or the failure of the server because of which the program was
// waiting when the time ran out.
func (k *talk) expired(ctx context.Context) error {
	k.read.mu.Lock()
	defer k.read.mu.Unlock()
	if f := k.read.fault; f != nil && f.text() == "" && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e := f.infra(time.Now())
		e.Err = fmt.Errorf("no time was left to try again after: %w", e.Err)
		return e
	}
	return ctx.Err()
}

// speak makes all calls of the SDK. Its own context never ends.
func (k *talk) speak(ctx context.Context, c *child) error {
	bg := context.WithoutCancel(ctx)
	client := sdk.NewClient(&sdk.ClientOptions{Mode: sdk.ModeEmpty, Env: []string{},
		Connection: sdk.URIConnection{URL: c.bridge.addr(), ConnectionToken: c.bridge.token}})
	if err := client.Start(bg); err != nil {
		c.end()
		leave(client, c.bridge)
		return c.died(err)
	}
	k.config.OnEvent = k.read.event
	session, err := client.CreateSession(bg, k.config)
	if err == nil {
		if err = k.ask(bg, session, c); err == nil {
			select {
			case <-k.read.done:
			case <-c.bridge.ended:
			}
		}
	}
	over := false
	select {
	case <-k.read.done:
		over = true
	default:
	}
	// The program has nothing to save.
	c.end()
	if session != nil {
		_ = session.Disconnect() // the bridge answers, so the session is released
	}
	leave(client, c.bridge)
	if over {
		return nil
	}
	return c.died(err)
}

// ask prepares the session and sends the prompt.
func (k *talk) ask(ctx context.Context, s *sdk.Session, c *child) error {
	if refusal, _ := c.bridge.outcome(); refusal != nil {
		return errors.New(refusal.Message)
	}
	if len(k.offered) > 0 {
		if err := k.offer(ctx, s); err != nil {
			return err
		}
	}
	prompt := k.prompt
	if k.call != "" {
		// The program expands a command only in its own terminal.
		result, err := s.RPC.Commands.Invoke(ctx, &rpc.CommandsInvokeRequest{Name: k.call, Input: &k.prompt})
		if err != nil {
			return fmt.Errorf("call /%s: %w", k.call, err)
		}
		told, ok := result.(*rpc.SlashCommandAgentPromptResult)
		if !ok {
			return eval.Infraf(eval.BadRequest, "call /%s: it is a command of the program, %s, and no skill", k.call, result.Kind())
		}
		prompt = told.Prompt
	}
	_, err := s.Send(ctx, sdk.MessageOptions{Prompt: prompt})
	return err
}

// offer keeps only the offered skills. If the program did not load the candidate, every
// rollout would measure the no-skill arm; another skill that it does not load is missing at
// its owner's too.
func (k *talk) offer(ctx context.Context, s *sdk.Session) error {
	list, err := s.RPC.Skills.List(ctx)
	if err != nil {
		return fmt.Errorf("list skills: %w", err)
	}
	kept := make(map[string]bool)
	for _, have := range list.Skills {
		if _, ok := k.offered[have.Name]; ok && have.Enabled && !kept[have.Name] {
			kept[have.Name] = true
			continue
		}
		if _, err := s.RPC.Skills.Disable(ctx, &rpc.SkillsDisableRequest{Name: have.Name}); err != nil {
			return fmt.Errorf("switch skill %s off: %w", have.Name, err)
		}
	}
	if k.candidate != "" && !kept[k.candidate] {
		return eval.Infraf(eval.BadRequest, "offer skill %s: copilot does not load it; is its frontmatter valid?", k.candidate)
	}
	return nil
}

// leave lets the SDK's connection go. The SDK reports on our stdout that it
// closed the connection while it was reading from it, so it has to see the end of
// the stream before. When it has, it would connect again: Start says so, with a
// context that forbids it.
func leave(client *sdk.Client, b *bridge) {
	b.close()
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for wait := time.Microsecond * 50; client.Start(over) == nil && wait < time.Second; wait *= 2 {
		time.Sleep(wait)
	}
	client.ForceStop()
}

// died is why the program ended before its work did.
func (c *child) died(err error) error {
	var infra *eval.InfraError
	if errors.As(err, &infra) {
		return err
	}
	var limit process.LimitError
	if errors.As(c.stop(), &limit) {
		return limit
	}
	refusal, why := c.bridge.outcome()
	text := strings.TrimSpace(c.stderr.String())
	kind := eval.ServerError
	switch {
	case refusal != nil:
		kind = eval.BadRequest
		if lower := strings.ToLower(refusal.Message); strings.Contains(lower, "authenticat") || strings.Contains(lower, "logged in") {
			kind = eval.Auth
		}
		err = fmt.Errorf("copilot made no session: %s", refusal.Message)
	case why != nil:
		err = fmt.Errorf("copilot's output: %w", why)
	case text != "":
		err = fmt.Errorf("copilot ended before its work did: %s", text)
	case err == nil:
		err = errors.New("copilot ended before its work did")
	}
	return &eval.InfraError{Kind: kind, Err: err}
}
