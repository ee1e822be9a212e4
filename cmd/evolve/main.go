// Command evolve makes agent skills better while their owner sleeps.
package main

//go:generate go test -run TestDocs -update .

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
