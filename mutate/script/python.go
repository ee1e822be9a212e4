package script

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/problem"

	"github.com/skill-evolve/evolve/mutate/script/acts"
)

//go:embed walk.py
var walkPython string

const (
	pythonTime   = 20 * time.Second
	pythonOutput = 32 << 20
)

// readPython has Python itself parse the texts: its grammar changes with each version.
// -I and -S keep it from loading anything of the user's, and the texts are never run.
func readPython(ctx context.Context, texts [][]byte) ([]*acts.Reading, error) {
	python, err := exec.LookPath("python3")
	if err != nil {
		return nil, problem.Hinted(errors.New("there is no python3 on the PATH, and Python scripts are parsed by it"), "install Python 3")
	}
	in := struct {
		Texts []string `json:"texts"`
	}{}
	for _, t := range texts {
		in.Texts = append(in.Texts, string(t))
	}
	stdin, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, pythonTime)
	defer cancel()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "PYTHONIOENCODING=utf-8"}
	res, err := process.Run(limited, process.Command{Path: python, Args: []string{"-I", "-S", "-c", walkPython}, Dir: os.TempDir(), Env: env, Stdin: stdin, MaxOutput: pythonOutput})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("parse with python3: %w", err)
	case res.Overflow || res.Exit != 0:
		return nil, fmt.Errorf("parse with python3: it ended with code %d: %s", res.Exit, acts.Clip(res.Stderr))
	}
	var trees []struct {
		Tree  *node
		Error string
		Line  int
	}
	if err := json.Unmarshal(res.Stdout, &trees); err != nil || len(trees) != len(texts) {
		return nil, fmt.Errorf("parse with python3: its answer cannot be read: %v", err)
	}
	var out []*acts.Reading
	for _, t := range trees {
		if t.Tree == nil {
			out = append(out, &acts.Reading{Syntax: acts.SyntaxError(t.Line, t.Error)})
			continue
		}
		out = append(out, analyse(t.Tree, pythonDialect()))
	}
	return out, nil
}
