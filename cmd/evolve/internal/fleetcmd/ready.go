package fleetcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/eval/fleet"
)

// readiness writes a file again and again while the worker takes jobs, and removes it when it
// does not, so that a file that a killed worker left is soon too old. "" is no file.
func readiness(file string, takes func() bool) (end func(), err error) {
	if file == "" {
		return func() {}, nil
	}
	show := func() error {
		if takes() {
			return os.WriteFile(file, []byte(time.Now().UTC().Format(time.RFC3339)+"\n"), 0o644)
		}
		if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := show(); err != nil {
		return nil, fmt.Errorf("show that the worker is ready: %w", err)
	}
	stop := make(chan struct{})
	var loop sync.WaitGroup
	loop.Go(func() {
		tick := time.NewTicker(fleet.Beat)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = show() // a probe sees that it is old
			case <-stop:
				_ = os.Remove(file)
				return
			}
		}
	})
	return func() { close(stop); loop.Wait() }, nil
}
