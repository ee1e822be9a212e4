package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/casefile"
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
	if err := casefile.WriteLines(os.Stdout, cases); err != nil {
		fmt.Fprintln(os.Stderr, "moments:", err)
		os.Exit(1)
	}
}

// writeSittings is a program for scripts, sittings: it writes sessions of Claude Code in a
// repository, each with one request to which its user said what the program keeper does only
// by the rule that it knows. Every fourth session is in a folder below.
func writeSittings() {
	repo, to := os.Args[1], os.Args[2]
	n, err := strconv.Atoi(os.Args[3])
	if err != nil {
		panic(err)
	}
	first := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	for i := range n {
		id := fmt.Sprintf("%08x-1111-4222-8333-444444444444", i+1)
		cwd := repo
		if i%4 == 3 {
			cwd += "/src"
		}
		var b bytes.Buffer
		for k, text := range []string{
			fmt.Sprintf("Draw the %s of river %d against the %s of lake %d", word(i), 7*i+1, word(i/4+3), 13*i+5), "Here is a chart.",
			"no, you must name the unit of every axis, see the screenshot", "Now it has units: the depth is in metres.",
		} {
			line := map[string]any{"type": "user", "uuid": fmt.Sprintf("%s-%d", id, k), "sessionId": id, "cwd": cwd, "version": "2.1.329", "gitBranch": "main",
				"userType": "external", "entrypoint": "cli", "isSidechain": false, "timestamp": first.Add(time.Duration(i)*time.Hour + time.Duration(k)*time.Minute).Format("2006-01-02T15:04:05.000Z"),
				"message": map[string]any{"role": "user", "content": text}, "promptSource": "typed", "promptId": fmt.Sprintf("%s-p%d", id, k)}
			if k%2 == 1 {
				line["type"] = "assistant"
				line["message"] = map[string]any{"role": "assistant", "id": fmt.Sprintf("m%s-%d", id, k), "model": "m", "type": "message",
					"content": []any{map[string]any{"type": "text", "text": text}}, "usage": map[string]any{"input_tokens": 1, "output_tokens": 1}}
				delete(line, "promptSource")
				delete(line, "promptId")
			}
			if k > 0 {
				line["parentUuid"] = fmt.Sprintf("%s-%d", id, k-1)
			}
			if err := json.NewEncoder(&b).Encode(line); err != nil {
				panic(err)
			}
		}
		path := filepath.Join(to, "projects", "-shop", id+".jsonl")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
			panic(err)
		}
	}
}

func word(i int) string {
	return []string{"depth", "width", "level", "flow", "length", "tide", "silt", "speed", "basin", "bank", "delta"}[i%11]
}
