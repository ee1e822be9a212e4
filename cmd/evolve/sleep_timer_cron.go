package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/skill-evolve/evolve/internal/lazyregexp"
)

// cronLine is one line: cron gives its command to the shell, where % ends it.
func (t *timer) cronLine() string {
	var words []string
	for _, e := range t.env {
		name, value, _ := strings.Cut(e, "=")
		words = append(words, name+"="+shellWord(value))
	}
	words = append(words, "nice", "-n", "10")
	for _, w := range append([]string{t.program}, t.args...) {
		words = append(words, shellWord(w))
	}
	return fmt.Sprintf("%d %d * * * %s", t.minute, t.hour, strings.ReplaceAll(strings.Join(words, " "), "%", `\%`))
}

var plainWord = lazyregexp.New(`^[A-Za-z0-9_./:=,@+-]+$`)

func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// withoutMark is a crontab without our two lines.
func withoutMark(tab string) string {
	var out strings.Builder
	skip := 0
	for _, line := range strings.SplitAfter(tab, "\n") {
		if strings.TrimRight(line, "\n") == cronMark {
			skip = 2
		}
		if skip > 0 {
			skip--
			continue
		}
		out.WriteString(line)
	}
	if s := out.String(); s != "" && !strings.HasSuffix(s, "\n") {
		return s + "\n" // the line that follows is a line of its own
	}
	return out.String()
}

// crontab reads the user's; one who has none has an empty one.
func crontab(ctx context.Context) (string, error) {
	var out, errs bytes.Buffer
	c := exec.CommandContext(ctx, "crontab", "-l")
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		if strings.Contains(errs.String(), "no crontab") {
			return "", nil
		}
		return "", fmt.Errorf("read the crontab: %w: %s", err, oneLine(errs.String()))
	}
	return out.String(), nil
}

func setCrontab(ctx context.Context, tab string) error {
	c := exec.CommandContext(ctx, "crontab", "-")
	c.Stdin = strings.NewReader(tab)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("write the crontab: %w: %s", err, oneLine(string(out)))
	}
	return nil
}
