// Command evolve makes agent skills better while their owner sleeps.
package main

//go:generate go test -run TestDocs -update .

import (
	"context"
	"os"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/owner"
	"github.com/skill-evolve/evolve/harvest/hook/detach"
	"github.com/skill-evolve/evolve/store/datadir/policy"
)

func main() {
	m := machine{policy: policy.Read, clock: time.Now, detach: detach.Start}
	if len(os.Args) < 2 || os.Args[1] != "hook" { // a hook decides nothing, and an agent waits for it
		m.typist = owner.Find(os.Getenv, owner.Parents())
	}
	os.Exit(run(context.Background(), m, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
