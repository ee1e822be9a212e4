// Command evolve makes agent skills better while their owner sleeps.
package main

//go:generate go test -run TestDocs -update .

import (
	"context"
	"os"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/owner"
)

func main() {
	typist := owner.Find(os.Getenv, owner.Parents())
	os.Exit(run(context.Background(), typist, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
