package timer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/skill-evolve/evolve/eval/problem"
)

// A System holds a user's timers.
type System struct {
	ConfigHome string // $XDG_CONFIG_HOME; ~/.config counts if it is no path from the root on
	Say        func(format string, args ...any)
}

// A Plan is the changes of installing a timer. Nothing has been written yet.
type Plan struct {
	Timer   *Timer
	Files   []File // to be written
	Crontab string // the lines for the crontab; "" if the timer is of another kind
	// Blocked is why the plan can be shown but not applied.
	Blocked error

	tab, next string // the whole crontab, as it is and as it would be
}

// Plan determines the changes of installing t.
func (s *System) Plan(ctx context.Context, t *Timer) (*Plan, error) {
	p := &Plan{Timer: t}
	var err error
	if p.Files, err = s.files(t); err != nil {
		return nil, err
	}
	was, err := s.Installed(ctx)
	if err != nil {
		return nil, err
	}
	if was != nil && was.Kind != t.Kind {
		p.Blocked = problem.Inputf("`evolve sleep uninstall` takes it away first", "a %s timer is installed already", was.Kind)
	}
	if t.Kind == Cron {
		if p.tab, err = crontab(ctx); err != nil && p.Blocked == nil {
			p.Blocked = err
		}
		p.Crontab = cronMark + "\n" + t.cronLine() + "\n"
		p.next = withoutMark(p.tab) + p.Crontab
	}
	return p, nil
}

// InPlace reports whether nothing is left to change. It refuses a plan that would
// overwrite a file that evolve has not written.
func (p *Plan) InPlace(ctx context.Context) (bool, error) {
	for _, f := range p.Files {
		if text, err := os.ReadFile(f.Path); err == nil && !ours(text) {
			return false, problem.Refusef("move it away first", "%s was not written by evolve", f.Path)
		}
	}
	if same, err := unchanged(p.Files); err != nil || !same || p.tab != p.next {
		return false, err
	}
	on, err := p.Timer.Enabled(ctx)
	return err == nil && on, nil //nolint:nilerr // what is not known to be enabled is enabled again
}

// Apply installs the timer. If that fails, everything is as it was before.
func (p *Plan) Apply(ctx context.Context) error {
	putBack, err := keepFiles(p.Files)
	if err != nil {
		return err
	}
	for _, f := range p.Files {
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
			return fmt.Errorf("install timer: %w", err)
		}
		if err := renameio.WriteFile(f.Path, []byte(f.Content), 0o644); err != nil {
			return fmt.Errorf("install timer: %w", err)
		}
	}
	if p.Timer.Kind == Cron {
		err = setCrontab(ctx, p.next)
	} else {
		err = p.Timer.enable(ctx, p.Files)
	}
	if err == nil {
		return nil
	}
	if e := putBack(); e != nil {
		return problem.Hinted(fmt.Errorf("install timer: %w; %w", err, e), "`evolve sleep uninstall` takes what was written away")
	}
	return problem.Hinted(fmt.Errorf("install timer: %w; nothing is left of it", err), "--with cron may work instead")
}

// Removed is what Uninstall removed.
type Removed struct {
	Files   []string
	Crontab bool // the two lines of the crontab
}

// Uninstall removes what Apply wrote and nothing else. With an error it
// returns what it had removed by then.
func (s *System) Uninstall(ctx context.Context) (*Removed, error) {
	r := new(Removed)
	for _, kind := range []string{Systemd, Launchd} {
		files, err := s.files(&Timer{Kind: kind})
		if err != nil {
			return r, err
		}
		files = slices.DeleteFunc(files, func(f File) bool {
			text, err := os.ReadFile(f.Path)
			return err != nil || !ours(text) // there is none, or it is another's
		})
		if len(files) == 0 {
			continue
		}
		if err := disable(ctx, kind); err != nil {
			s.Say("it could not be stopped, and is removed all the same: %v", err)
		}
		for _, f := range files {
			if err := os.Remove(f.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return r, fmt.Errorf("uninstall timer: %w", err)
			}
			r.Files = append(r.Files, f.Path)
		}
		if err := dropWanted(files[0].Path); err != nil {
			return r, fmt.Errorf("uninstall timer: %w", err)
		}
		if kind == Systemd {
			if err := call(ctx, changeWait, "systemctl", "--user", "daemon-reload"); err != nil {
				s.Say("systemd was not notified: %v", err)
			}
		}
	}
	if tab, err := crontab(ctx); err == nil && strings.Contains(tab, cronMark) {
		if err := setCrontab(ctx, withoutMark(tab)); err != nil {
			return r, fmt.Errorf("uninstall timer: %w", err)
		}
		r.Crontab = true
	}
	return r, nil
}
