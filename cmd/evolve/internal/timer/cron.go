package timer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// cronLine is one line of a crontab. cron passes its command to the crontab's
// shell, and a % ends the command.
func (t *Timer) cronLine() string {
	words := []string{"env"}
	for _, w := range slices.Concat(t.Env, []string{"nice", "-n", "10", t.Program}, t.Args) {
		words = append(words, shellWord(w))
	}
	return fmt.Sprintf("%d %d * * * %s", t.Minute, t.Hour, strings.ReplaceAll(strings.Join(words, " "), "%", `\%`))
}

var plainWord = lazyregexp.New(`^[A-Za-z0-9_./:=,@+-]+$`)

// shellWord quotes an argument for a shell in a crontab: without backslashes,
// which some crons interpret.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'"
}

// withoutMark is a crontab without our two lines. A line after the mark that
// starts no night is not ours and stays.
func withoutMark(tab string) string {
	var out strings.Builder
	below := false
	for _, line := range strings.SplitAfter(tab, "\n") {
		mark := strings.TrimRight(line, "\n") == cronMark
		if mark || below && strings.Contains(line, " sleep run --quiet") {
			below = mark
			continue
		}
		below = false
		out.WriteString(line)
	}
	if s := out.String(); s != "" && !strings.HasSuffix(s, "\n") {
		return s + "\n" // the line that follows is a line of its own
	}
	return out.String()
}

// crontab reads the user's crontab, "" if there is none.
func crontab(ctx context.Context) (string, error) {
	tab, err := answer(ctx, askWait, "", "crontab", "-l")
	switch {
	case err != nil && strings.Contains(err.Error(), "no crontab"):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("read the crontab: %w", err)
	}
	return tab, nil
}

// setCrontab replaces the user's crontab; an empty one is none.
func setCrontab(ctx context.Context, tab string) error {
	how := "-"
	if tab == "" {
		how = "-r"
	}
	if _, err := answer(ctx, changeWait, tab, "crontab", how); err != nil {
		return fmt.Errorf("write the crontab: %w", err)
	}
	return nil
}
