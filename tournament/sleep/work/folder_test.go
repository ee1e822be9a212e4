package work

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/skill-evolve/evolve/tournament/sleep"
)

// TestAboutFolder: a folder that cannot be written concerns its own skill alone; what
// concerns all does not.
func TestAboutFolder(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{syscall.EACCES, true}, {syscall.EPERM, true}, {syscall.EROFS, true}, {syscall.ENOSPC, true}, {syscall.EIO, false},
	} {
		err := aboutFolder("dataviz", fmt.Errorf("install: %w", &fs.PathError{Op: "open", Path: "SKILL.md", Err: c.err}))
		var hopeless *sleep.Hopeless
		if got := errors.As(err, &hopeless); got != c.want || !strings.Contains(err.Error(), c.err.Error()) ||
			got != strings.Contains(err.Error(), "`evolve promote dataviz`") {
			t.Errorf("%v: %v (about the skill alone: %v), want %v", c.err, err, got, c.want)
		}
	}
}
