package start

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/doctor"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/standing"
	"github.com/skill-evolve/evolve/store/datadir"
)

// agentWait is how long an agent's program may take to tell its version.
const agentWait = 5 * time.Second

// show prints what is here. No session is opened.
func (s *setup) show(ctx context.Context, home datadir.Dir) error {
	if s.Terminal.JSON || s.Terminal.Quiet {
		return nil
	}
	var b strings.Builder
	t := plain.NewTable(&b)
	first, absent := "agents", []string{}
	sandbox := ""
	for _, f := range s.agents(ctx) {
		name, is := strings.CutPrefix(f.What, "agent ")
		switch {
		case f.What == "sandbox":
			sandbox = f.Detail
		case !is || name == "simulated":
		case strings.Contains(f.Detail, "is not on the PATH") || name == "openai" && f.State != "ok":
			absent = append(absent, name)
		default:
			fmt.Fprintf(t, "%s\t%s\t%s\n", first, name, f.Detail)
			if first = ""; f.Fix != "" {
				fmt.Fprintf(t, "\t\t→ %s\n", f.Fix)
			}
		}
	}
	if first != "" {
		fmt.Fprintf(t, "%s\tnone: `evolve doctor` prints what to type for each\n", first)
	} else if len(absent) > 0 {
		fmt.Fprintf(t, "not here\t%s\n", strings.Join(absent, ", "))
	}
	fmt.Fprintf(t, "sandbox\t%s\n", sandbox)
	if err := s.sessions(ctx, t); err != nil {
		return err
	}
	reg, err := s.Layout().Registry()
	if err != nil {
		return err
	}
	var names []string
	for _, e := range reg.Entries {
		names = append(names, e.Name)
	}
	fmt.Fprintf(t, "skills\t%s\n", counted(names))
	fmt.Fprintf(t, "instructions\t%s\n", counted(instructions()))
	fmt.Fprintf(t, "config\t%s\nset\t%s\n", home.Config(), s.set())
	if err := t.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprint(s.Terminal.Stdout, s.Terminal.Folded(b.String()))
	return err
}

// sessions has a line for each agent with sessions.
func (s *setup) sessions(ctx context.Context, t interface{ Write([]byte) (int, error) }) error {
	homes, err := backend.Homes(s.Layout())
	if err != nil {
		return err
	}
	first := "sessions"
	for _, h := range homes {
		n, oldest, err := doctor.Transcripts(ctx, h)
		if err != nil {
			return err
		}
		if s.sessionsHere += n; n == 0 {
			continue
		}
		keeps := "it removes none"
		if h.Keeps != nil {
			keeps = "it removes them after " + plain.Counted(h.Keeps(h.Dir), "day")
		}
		fmt.Fprintf(t, "%s\t%s\t%s, the oldest of %s; %s\n", first, h.Name, plain.Counted(n, "session"), oldest.Local().Format(time.DateOnly), keeps)
		first = ""
	}
	if first != "" {
		fmt.Fprintf(t, "%s\tnone found\n", first)
	}
	return nil
}

// instructions are the files of standing instructions of this person, below ~.
func instructions() (found []string) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	for _, row := range standing.Table {
		below, own := strings.CutPrefix(row.File, "~/")
		if !own || strings.Contains(below, "*") {
			continue
		}
		if info, err := os.Stat(filepath.Join(home, below)); err == nil && info.Mode().IsRegular() {
			found = append(found, row.File)
		}
	}
	return found
}

// shownNames is how many names of a list are printed.
const shownNames = 6

func counted(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	out := fmt.Sprintf("%d: %s", len(names), plain.Line(strings.Join(names[:min(shownNames, len(names))], ", ")))
	if len(names) > shownNames {
		out += " …"
	}
	return out
}

// set says what is decided already.
func (s *setup) set() string {
	var out []string
	if !s.desk.Undecided() {
		out = append(out, "projects are chosen")
	}
	if s.conf.Agent != "" {
		out = append(out, strings.TrimSpace("agent "+s.conf.Agent+" "+s.conf.Model))
	}
	if s.conf.NightMaxCostUSD != nil {
		out = append(out, eval.FormatUSD(*s.conf.NightMaxCostUSD)+" a night")
	}
	switch {
	case s.timer != nil:
		out = append(out, "nights at "+s.timer.At())
	case s.conf.NightMaxCostUSD != nil:
		out = append(out, "no nights (--nights 03:17)")
	}
	if len(out) == 0 {
		return "nothing yet"
	}
	return strings.Join(out, "; ")
}

// words show the change of a configuration.
func (f *file) words() string {
	if len(f.old) == 0 {
		return "writes " + f.path + "\n"
	}
	return "writes " + f.path + "\n" + plain.Text(udiff.Unified("before", "after", string(f.old), string(f.new)))
}
