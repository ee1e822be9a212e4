package eval

import (
	"context"
	"testing"
)

type onServer struct {
	Agent
	server string
}

func (a onServer) Identity() Identity {
	return Identity{Backend: "test", Params: "base=" + a.server, Draw: "draw"}
}

// The same job gets the same seed from another address of the server, and is another
// measurement.
func TestSeedOfAnotherServer(t *testing.T) {
	var seeds []int64
	var keys []string
	for _, server := range []string{"127.0.0.1:1", "127.0.0.1:2"} {
		e := &Evaluator{Grader: new(Checks), Agent: onServer{agentFunc(func(ctx context.Context, task Task) (Attempt, error) {
			seeds = append(seeds, task.Seed)
			return echo(ctx, task)
		}), server}}
		out, err := e.Run(t.Context(), jobsOf(testCases(1)))
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, out[0].Key)
	}
	if seeds[0] != seeds[1] || keys[0] == keys[1] {
		t.Errorf("seeds %v, keys %v", seeds, keys)
	}
}
