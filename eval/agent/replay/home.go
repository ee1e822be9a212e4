package replay

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/scratch"
)

// Ask runs a program for a few words, such as its version, in an empty home: it
// would write into the person's. command says what to run there; HOME, TMPDIR and
// the working folder are set.
func Ask(ctx context.Context, limit time.Duration, command func(home string) process.Command) (*process.Result, error) {
	home, err := scratch.Dir("", "evolve-replay-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c := command(home)
	c.Dir, c.Env = home, append(c.Env, "HOME="+home, "TMPDIR="+home)
	return process.Run(ctx, c)
}
