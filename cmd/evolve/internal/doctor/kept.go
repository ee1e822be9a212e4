package doctor

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// kept shows how long each agent keeps its transcripts, and how many are left. No
// transcript is opened.
func (d *Doctor) kept(ctx context.Context) error {
	homes, err := backend.Homes(d.Layout)
	if err != nil {
		return err
	}
	for _, h := range homes {
		n, oldest, err := Transcripts(ctx, h)
		if err != nil {
			return err
		}
		d.keeps(ctx, h, n, oldest)
	}
	return nil
}

// Transcripts counts the sessions of an agent, and tells when the oldest was last written.
// None is opened.
func Transcripts(ctx context.Context, h backend.Home) (n int, oldest time.Time, err error) {
	files, _, err := h.Files(ctx, h.Dir)
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil || filepath.Base(filepath.Dir(f)) == "subagents" {
			continue
		}
		if n++; oldest.IsZero() || info.ModTime().Before(oldest) {
			oldest = info.ModTime()
		}
	}
	return n, oldest, err
}

// keeps shows it of one agent, with what to do if its sessions may go before evolve reads
// them.
func (d *Doctor) keeps(ctx context.Context, h backend.Home, n int, oldest time.Time) {
	what, left := "kept by "+h.Name, plain.Counted(n, "session")+" left"
	if h.Keeps == nil {
		if n > 0 {
			left += ", the oldest of " + oldest.Format(time.DateOnly)
		}
		d.add(what, works, "", "%s; it removes none", left)
		return
	}
	days := h.Keeps(h.Dir)
	switch goes := oldest.AddDate(0, 0, days).Sub(d.Now()); {
	case days == 0:
		left += "; it keeps none (cleanupPeriodDays)"
	case n == 0:
		left += fmt.Sprintf("; it removes them after %s", plain.Counted(days, "day"))
	case goes <= 0:
		left += fmt.Sprintf("; it removes them after %s: the oldest goes when it next starts", plain.Counted(days, "day"))
	default:
		left += fmt.Sprintf("; it removes them after %s: the oldest goes in %s", plain.Counted(days, "day"), plain.Counted(int(math.Ceil(goes.Hours()/24)), "day"))
	}
	night := false
	if d.Night != nil {
		t, err := d.Night(ctx)
		night = err == nil && t != nil
	}
	switch {
	case d.hooked(h.Dir):
		d.add(what, works, "", "%s; a hook reads each at its end", left)
	case night && days > 1:
		d.add(what, works, "", "%s; the night reads them", left)
	case night:
		d.add(what, missing, "`evolve hooks install` has each session read at its end; a night may come too late", "%s", left)
	default:
		d.add(what, missing, "`evolve hooks install` has each session read at its end, `evolve sleep install` every night", "%s", left)
	}
}

// hooked reports whether the settings of Claude Code run evolve at the end of a session.
func (d *Doctor) hooked(home string) bool {
	text, err := bounded.ReadFile(filepath.Join(home, "settings.json"), 16<<20)
	if err != nil {
		return false
	}
	commands, off, err := hook.Hooked(text)
	return err == nil && !off && len(commands[hook.SessionEnd]) > 0
}
