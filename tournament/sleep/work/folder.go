package work

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// aboutFolder marks an installation's error that is about the target folder,
// besides those that are about its skill: a folder that cannot be written
// must not block the other skills, tonight and in every night after.
func aboutFolder(name string, err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOSPC) {
		return &sleep.Hopeless{Err: fmt.Errorf("%s; it stays staged: once the folder can be written a later night installs it, or `evolve promote %s`", plain.Line(err.Error()), name)}
	}
	return aboutSkill(err)
}
