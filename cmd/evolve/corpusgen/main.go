// Corpusgen writes a corpus of transcripts with its manifest: see docs/benchmarks.md.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/skill-evolve/evolve/harvest/corpustest"
)

func main() {
	mb := flag.Int64("mb", 1024, "size in MiB")
	sessions := flag.Int("sessions", 2000, "number of sessions")
	seed := flag.Uint64("seed", 0, "seed of everything that is random")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: corpusgen [flags] FOLDER")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	m, err := corpustest.Generate(flag.Arg(0), corpustest.Options{Sessions: *sessions, Bytes: *mb << 20, Seed: *seed})
	if err != nil {
		fmt.Fprintln(os.Stderr, "corpusgen:", err)
		os.Exit(1)
	}
	fmt.Printf("%d files, %d bytes, %d turns, %d uses of skills, %d secrets, %d look-alikes\n",
		m.Files, m.Bytes, m.Turns, len(m.Invocations), len(m.Secrets), len(m.Harmless))
}
