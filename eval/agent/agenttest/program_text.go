package agenttest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

var ask = eval.Prompt{System: "system-words: you name stones", User: "user-words: which stone is the hardest?", Seed: 7}

func (st *stage) complete() (eval.Completion, error) {
	ctx, cancel := context.WithTimeout(st.Context(), wall)
	defer cancel()
	return st.agent.Complete(ctx, ask)
}

func textArrives(st *stage) {
	c, err := st.complete()
	if err != nil {
		st.Fatal(err)
	}
	checkText(st.T, c)
	st.golden = append(st.golden, c)
	if !st.live() {
		return
	}
	asked := st.server.Requests()
	checkAsked(st.T, asked[len(asked)-1:])
	for _, q := range asked {
		for _, tool := range q.Tools {
			if !slices.Contains(st.p.TextTools, tool) {
				st.Errorf("the tool %q is offered", tool)
			}
		}
	}
	for _, text := range []string{personal, "Feldspar of the person"} {
		if among(asked, text) {
			st.Errorf("%q reached the model", text)
		}
	}
}

// An empty reply must be an error or empty, never something else, such as the program's
// own output.
func textEmpty(st *stage) {
	if c, err := st.complete(); err == nil && c.Text != "" {
		st.Errorf("completion = %+v of an empty reply", c)
	} else if err != nil && !errors.As(err, new(*eval.InfraError)) {
		st.Errorf("err = %v, want an InfraError", err)
	}
}

func textFails(f failing) func(*stage) {
	return func(st *stage) {
		c, err := st.complete()
		f.check(st, err)
		if c.Text != "" {
			st.Errorf("a text came of it all the same: %q", c.Text)
		}
		st.calls(1)
	}
}

func textCut(st *stage) {
	ctx, cancel := context.WithCancel(st.Context())
	defer cancel()
	go func() {
		select {
		case <-st.server.Arrived():
		case <-time.After(wall):
		}
		cancel()
	}()
	if _, err := st.agent.Complete(ctx, ask); !errors.Is(err, context.Canceled) {
		st.Errorf("err = %v, want context canceled", err)
	}
}
