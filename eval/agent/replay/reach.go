package replay

import (
	"context"
	"net"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

// Reach connects to a model's server, host:port, and sends nothing. The error is
// an *eval.InfraError.
func Reach(ctx context.Context, host string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", host)
	if err != nil {
		return eval.Infraf(eval.Unreachable, "connect to the model's server: %w", err)
	}
	return c.Close()
}
