package main

import (
	"fmt"
	"os"

	"github.com/skill-evolve/evolve/eval"
)

// writeMoments is a program for scripts, moments: it prints cases for a file of standing instructions
// whose one missing rule the program keeper knows.
func writeMoments() {
	var cases []eval.Case
	for _, of := range []struct {
		split eval.Split
		n     int
	}{{eval.Train, 12}, {eval.Val, 6}, {eval.Test, 20}} {
		for i := range of.n {
			id := fmt.Sprintf("%s-%02d", of.split, i)
			cases = append(cases, eval.Case{ID: id, Skill: os.Args[1], Cluster: id, Split: of.split,
				Prompt: fmt.Sprintf("Draw the %s of river %d against the %s of lake %d", word(i), 7*i+1, word(i/4+len(of.split)), 13*i+5),
				Checks: []eval.Check{{Type: "contains", Value: "metres", Feedback: "name the unit of every axis"}}})
		}
	}
	if err := eval.WriteCases(os.Stdout, cases); err != nil {
		fmt.Fprintln(os.Stderr, "moments:", err)
		os.Exit(1)
	}
}

func word(i int) string {
	return []string{"depth", "width", "level", "flow", "length", "tide", "silt", "speed", "basin", "bank", "delta"}[i%11]
}
