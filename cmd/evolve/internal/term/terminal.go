// Package term is the terminal: streams, progress, colours, questions and
// signals.
package term

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/subject"
)

// A Terminal is the streams of one command and their flags. On a terminal
// lines are folded, colours may be used and a view may be drawn; elsewhere
// plain lines are written.
type Terminal struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Now            func() time.Time
	Getenv         func(string) string

	JSON  bool // results are for programs
	Quiet bool // no progress
	// Clean removes secrets from a line; nil removes nothing.
	Clean func(string) string
	// Notice gets the lines of Say and Tell; nil prints them on Stderr.
	Notice func(line string)
	// Interrupted is closed by the first signal that asks the program to end; nil if
	// signals are not handled.
	Interrupted <-chan struct{}
}

// New makes one from a process's streams, which need not be terminals.
func New(stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string, now func() time.Time) Terminal {
	stderr = onConsole(stderr, getenv)
	if c, ok := stderr.(*console); ok {
		stdout = c.besides(stdout)
	}
	return Terminal{Stdin: stdin, Stdout: plainly(stdout), Stderr: stderr, Now: now, Getenv: getenv}
}

// Print writes a result to stdout: data with --json, else text, folded.
func (t *Terminal) Print(data any, text string) error {
	if t.JSON {
		return t.PrintJSON(data)
	}
	var b strings.Builder
	for line := range strings.Lines(subject.Readable(text)) { // a table leaves blanks at the end of lines
		body, feed := strings.CutSuffix(line, "\n")
		b.WriteString(strings.TrimRight(body, " "))
		if feed {
			b.WriteByte('\n')
		}
	}
	_, err := io.WriteString(t.Stdout, t.Folded(b.String()))
	return err
}

// Show prints a text that is laid out already.
func (t *Terminal) Show(text string) error {
	_, err := io.WriteString(t.Stdout, subject.Readable(text))
	return err
}

// Warn prints warnings on stderr, even with --quiet.
func (t *Terminal) Warn(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintf(t.Stderr, "warning: %s\n", plain.Text(w))
	}
}

// PrintJSON writes v to stdout, indented.
func (t *Terminal) PrintJSON(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	if err == nil {
		_, err = t.Stdout.Write(EscapedJSON(b.Bytes()))
	}
	if err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	return nil
}

// Say prints one line of progress, unless --quiet.
func (t *Terminal) Say(format string, args ...any) {
	if !t.Quiet {
		t.Tell(format, args...)
	}
}

// Tell prints one line on stderr, folded if that is a terminal, even with
// --quiet.
func (t *Terminal) Tell(format string, args ...any) {
	line := subject.Readable(fmt.Sprintf(format, args...))
	if t.Clean != nil {
		line = t.Clean(line)
	}
	if t.Notice != nil {
		t.Notice(line)
		return
	}
	fmt.Fprintln(t.Stderr, plain.Fold(line, Columns(t.Stderr)))
}

// Confirm asks a yes-or-no question on the terminal; without one the answer is
// no. The error is context.Canceled if a signal came instead of an answer.
func (t *Terminal) Confirm(question string) (bool, error) {
	answer, _, err := t.Ask(question + " [y/N] ")
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", err
}

// Ask prints a question on the terminal and reads a line. ok is false if nobody answers:
// there is no terminal, or the input has ended. The error is context.Canceled if a signal
// came instead of an answer.
func (t *Terminal) Ask(question string) (answer string, ok bool, err error) {
	if !IsTerminal(t.Stdin) || !IsTerminal(t.Stderr) {
		return "", false, nil
	}
	if c, ok := t.Stderr.(*console); ok {
		defer c.hold()()
	}
	fmt.Fprint(t.Stderr, question)
	type read struct {
		line string
		err  error
	}
	got := make(chan read, 1)
	go func() {
		line, err := readLine(t.Stdin)
		got <- read{line, err}
	}()
	select {
	case <-t.Interrupted:
		fmt.Fprintln(t.Stderr)
		return "", false, context.Canceled
	case r := <-got:
		if r.err != nil && !errors.Is(r.err, io.EOF) {
			return "", false, fmt.Errorf("read the answer: %w", r.err)
		}
		if ok = r.err == nil || r.line != ""; !ok {
			fmt.Fprintln(t.Stderr) // nobody typed the end of the line
		}
		return r.line, ok, nil
	}
}

// readLine reads up to the end of the line and no further: the rest answers
// the next question.
func readLine(r io.Reader) (string, error) {
	var line []byte
	one := make([]byte, 1)
	for {
		n, err := r.Read(one)
		if n == 1 && one[0] == '\n' {
			return string(line), nil
		}
		line = append(line, one[:n]...)
		if err != nil {
			return string(line), err
		}
	}
}
