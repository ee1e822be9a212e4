package standing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/subject"
)

// Check refuses a file that an agent does not load, "" for any agent, before anything is
// spent on it. Another kind of subject passes.
func (l *Loader) Check(key, agent string) error {
	file := subject.Parse(key)
	if file.Kind != subject.File {
		return nil
	}
	by := l.LoadedBy(file)
	switch {
	case len(by) == 0:
		_, path := file.Place()
		return problem.Inputf(fmt.Sprintf("a line @%s in a file that is loaded, such as CLAUDE.md, has Claude Code load it", path), "no agent is known to load %s", file.Text())
	case agent != "" && slices.Contains(Agents(), agent) && !slices.Contains(by, agent):
		return problem.Inputf(fmt.Sprintf("--agent chooses another one, or evolve a file that %s loads", plain.Agent(agent)), "%s does not load %s: %s", plain.Agent(agent), file.Text(), doLoad(by))
	}
	return nil
}

// Notes says, a line each, what a file imports: each of these is a subject of its own.
func (l *Loader) Notes(key string) (lines []string) {
	file := subject.Parse(key)
	if file.Kind != subject.File {
		return nil
	}
	path, err := l.Layout.FilePath(key)
	if err != nil {
		return nil
	}
	short := short(path)
	var names []string
	for _, i := range Graph(path) {
		switch {
		case i.Back:
			lines = append(lines, fmt.Sprintf("%s imports %s, which imports it: agents load each once", short(i.From), short(i.To)))
		case i.Gone:
			lines = append(lines, fmt.Sprintf("%s imports %s, which is not there", short(i.From), short(i.To)))
		case !slices.Contains(names, short(i.To)):
			names = append(names, short(i.To))
		}
	}
	if len(names) > 0 {
		lines = append([]string{fmt.Sprintf("%s imports %s: each is a file of its own for `evolve --file`, and stays as it is", file.Text(), strings.Join(names, ", "))}, lines...)
	}
	return lines
}

func doLoad(agents []string) string {
	names := make([]string, len(agents))
	for i, a := range agents {
		names[i] = plain.Agent(a)
	}
	last := len(names) - 1
	if last == 0 {
		return names[0] + " does"
	}
	return strings.Join(names[:last], ", ") + " and " + names[last] + " do"
}
