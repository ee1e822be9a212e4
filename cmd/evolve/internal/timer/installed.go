package timer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

var (
	onCalendar = lazyregexp.New(`(?m)^OnCalendar=\*-\*-\* (\d\d):(\d\d):00$`)
	atHour     = lazyregexp.New(`<key>Hour</key><integer>(\d+)</integer><key>Minute</key><integer>(\d+)</integer>`)
	cronTimes  = lazyregexp.New(`(?m)^` + regexp.QuoteMeta(cronMark) + `\n(\d+) (\d+) `)
)

// Installed reads back what Apply wrote; nil if no timer is installed. Of the
// timer it sets the kind and the time only.
func (s *System) Installed(ctx context.Context) (*Timer, error) {
	for kind, pattern := range map[string]*lazyregexp.Regexp{Systemd: onCalendar, Launchd: atHour} {
		files, err := s.files(&Timer{Kind: kind})
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(files[len(files)-1].Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("read timer: %w", err)
		}
		t := &Timer{Kind: kind}
		if m := pattern.FindStringSubmatch(string(text)); m != nil {
			t.Hour, _ = strconv.Atoi(m[1])
			t.Minute, _ = strconv.Atoi(m[2])
		}
		return t, nil
	}
	tab, err := crontab(ctx)
	if err != nil {
		return nil, nil // no cron here
	}
	if m := cronTimes.FindStringSubmatch(tab); m != nil {
		t := &Timer{Kind: Cron}
		t.Minute, _ = strconv.Atoi(m[1])
		t.Hour, _ = strconv.Atoi(m[2])
		return t, nil
	}
	return nil, nil
}
