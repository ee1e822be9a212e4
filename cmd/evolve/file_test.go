package main

import (
	"fmt"
	"os"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
)

// moments is a program for scripts: it prints cases of the simulated world for a subject.
func moments() {
	cases := simulated.Demo().Cases(12, 6, 60)
	for i := range cases {
		cases[i].Skill = os.Args[1]
	}
	if err := eval.WriteCases(os.Stdout, cases); err != nil {
		fmt.Fprintln(os.Stderr, "moments:", err)
		os.Exit(1)
	}
}
