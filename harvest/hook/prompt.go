package hook

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// maxContext is how many bytes a hook passes to the model. Of more than 10,000
// characters Claude Code 2.1.329 shows 2 kB, and the rest as a file.
const maxContext = 9500

// maxMentions is the longest prompt that is searched for mentions, in bytes; it takes
// half a second at most.
const maxMentions = 512 << 10

// mention resolves the "$name" of a prompt. The one skill that it asks for is added to
// the context as if it had been typed as a command. If the mention is ambiguous, the
// person is told so and nothing is loaded.
func (h *Host) mention(in *input) (r reply, err error) {
	if len(in.prompt) > maxMentions {
		if strings.Contains(in.prompt, "$") {
			r.message = fmt.Sprintf("evolve: the prompt is too long (%d kB) to look for $names in it; type /name before it.", len(in.prompt)>>10)
		}
		return r, nil
	}
	// Most prompts have no mention; then the skills are not read.
	if len(skill.Mentions(in.prompt, func(string) bool { return true })) == 0 {
		return r, nil
	}
	found := h.finder(in.cwd)
	res := skill.Resolve(in.prompt, found.callable(h.disabled()))
	name := res.Activated
	said := slices.DeleteFunc(res.Messages, func(m string) bool { return name != "" && m == using(name) })
	if name != "" {
		live := found.load(name)
		g := h.guard(name, live.hash)
		switch {
		case g != nil: // nothing is loaded, so the agent need not be stopped
			said = append(said, "evolve: "+g.Error())
		case live.hash == "":
			said = append(said, fmt.Sprintf("Skill '%s' cannot be read.", name))
		default:
			_, from := front(live.body)
			r.context = loaded(name, live.dir, strings.TrimLeft(string(live.body[from:]), "\r\n"), res.Task)
		}
		err = h.prompted(in, harvest.DollarMention, "$"+name, name, live, g)
	}
	r.message = strings.Join(said, "\n")
	return r, err
}

// loaded is the text of a skill for the model: as the agent words it, after the line
// that names the skill. Commands in the text (!`…`) are not run.
func loaded(name, dir, body, task string) string {
	body = strings.NewReplacer("$ARGUMENTS", task, "${CLAUDE_SKILL_DIR}", dir).Replace(body)
	head := using(name) + "\n\nBase directory for this skill: " + dir + "\n\n"
	if len(head)+len(body) <= maxContext {
		return head + body
	}
	head += fmt.Sprintf("The text of this skill is too long to stand here whole. Before you do anything else, read all of %s and follow it. It begins:\n\n",
		filepath.Join(dir, skill.FileName))
	return head + clip(body, max(0, maxContext-len(head)-len("\n[…]")))
}
