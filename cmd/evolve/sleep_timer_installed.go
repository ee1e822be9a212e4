package main

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

// installedTimer reads back what install wrote; nil where there is nothing of
// it.
func (a *app) installedTimer(ctx context.Context) (*timer, error) {
	for kind, pattern := range map[string]*lazyregexp.Regexp{timerSystemd: onCalendar, timerLaunchd: atHour} {
		files, err := a.timerFiles(&timer{kind: kind})
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(files[len(files)-1].path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("read timer: %w", err)
		}
		t := &timer{kind: kind}
		if m := pattern.FindStringSubmatch(string(text)); m != nil {
			t.hour, _ = strconv.Atoi(m[1])
			t.minute, _ = strconv.Atoi(m[2])
		}
		return t, nil
	}
	tab, err := crontab(ctx)
	if err != nil {
		return nil, nil // no cron here
	}
	if m := cronTimes.FindStringSubmatch(tab); m != nil {
		t := &timer{kind: timerCron}
		t.minute, _ = strconv.Atoi(m[1])
		t.hour, _ = strconv.Atoi(m[2])
		return t, nil
	}
	return nil, nil
}
