package cursor

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/ownwords"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// transcript is a session while its lines are read.
type transcript struct {
	s      *harvest.Draft
	answer string // last text of the last turn, raw
	now    time.Time
	dirs   []string // that commands ran in
}

func (t *transcript) take(n int, line []byte) bool {
	rec := gjson.ParseBytes(line)
	content := rec.Get("message.content")
	switch {
	case rec.Get("role").Str == "user" && content.Exists():
		t.user(n, text(content))
	case rec.Get("role").Str == "assistant" && content.Exists():
		t.reply(n, content)
	case rec.Get("type").Str == "turn_ended":
		if len(t.s.Turns) > 0 && rec.Get("status").Str == "error" {
			if strings.Contains(strings.ToLower(rec.Get("error").Str), "abort") {
				t.s.Last().Interrupted = true
			} else {
				t.s.Last().APIErrors++
			}
		}
	default:
		return false
	}
	return true
}

func text(content gjson.Result) string {
	if content.Type == gjson.String {
		return content.Str
	}
	var parts []string
	content.ForEach(func(_, block gjson.Result) bool {
		if block.Get("type").Str == "text" {
			parts = append(parts, block.Get("text").Str)
		}
		return true
	})
	return strings.Join(parts, "\n")
}

func (t *transcript) user(n int, whole string) {
	query, attached := typed(whole)
	if query == "" && len(attached) == 0 {
		return
	}
	if m := timestamp.FindStringSubmatch(whole); m != nil {
		if at := when(m[1], m[2]); !at.IsZero() {
			t.now = at
			t.s.During(at)
		}
	}
	t.flush()
	if query == "" {
		query = "/" + attached[0].name
	}
	prompt := t.s.Typed(query)
	t.s.Turns = append(t.s.Turns, harvest.Turn{Time: t.now, Prompt: prompt})
	use := harvest.Invocation{Line: n, Time: t.now}
	for i, a := range attached {
		use.Skill, use.Dir, use.Signal = t.s.Skill(a.name), t.s.Folder(a.dir), harvest.InputSlashCommand
		use.ID = t.useID(n, i)
		t.s.Invoke(use)
	}
	if name, ok := harvest.SlashCommand(prompt); ok {
		use.Skill, use.Dir, use.Signal, use.ID = name, "", harvest.PromptSlashCommand, t.useID(n, len(attached))
		t.s.Invoke(use)
	}
}

// useID is the id of a use in the i-th place of a line: Cursor gives lines none.
func (t *transcript) useID(n, i int) string {
	return fmt.Sprintf("cursor-skill-%s-%d-%d", t.s.ID, n, i)
}

// redacted is what Cursor writes for thinking.
const redacted = "[REDACTED]"

func (t *transcript) reply(n int, content gjson.Result) {
	if len(t.s.Turns) == 0 {
		return
	}
	if said := strings.TrimSpace(strings.ReplaceAll(text(content), redacted, "")); said != "" {
		t.answer = strings.Clone(said)
	}
	i := -1
	content.ForEach(func(_, block gjson.Result) bool {
		i++
		if block.Get("type").Str != "tool_use" {
			return true
		}
		turn, input := t.s.Last(), block.Get("input")
		turn.Tools = append(turn.Tools, harvest.Tool{Name: t.s.Clean(block.Get("name").Str)})
		if dir := input.Get("working_directory").Str; filepath.IsAbs(dir) && len(t.dirs) <= harvest.MaxFolders && !slices.Contains(t.dirs, dir) {
			t.dirs = append(t.dirs, strings.Clone(dir))
		}
		if !strings.HasPrefix(strings.ToLower(block.Get("name").Str), "read") {
			return true
		}
		if name, dir, ok := harvest.SkillFile(cmp.Or(input.Get("path").Str, input.Get("target_file").Str, input.Get("file_path").Str)); ok {
			t.s.Invoke(harvest.Invocation{ID: t.useID(n, i), Skill: t.s.Skill(name), Signal: harvest.SkillFileRead, Dir: t.s.Folder(dir),
				ToolUseID: t.s.Clean(block.Get("id").Str), Line: n, Time: t.now})
		}
		return true
	})
}

func (t *transcript) flush() {
	if t.answer != "" {
		t.s.Last().Answer, t.answer = t.s.Said(t.answer), ""
	}
}

func (t *transcript) finish(problems []harvest.Problem) *harvest.Session {
	t.flush()
	t.s.In(t.s.CWD)
	t.s.In(t.dirs...)
	if t.s.CWD == "" && len(t.dirs) > 0 {
		t.s.Folders = append(t.s.Folders, "") // where it began is unknown
	}
	return t.s.Finish(problems, nil)
}

// attachment is a skill whose text the program put before what the person typed.
type attachment struct{ name, dir string }

const (
	skillsTag, skillsEnd = "<manually_attached_skills>", "</manually_attached_skills>"
	queryTag, queryEnd   = "<user_query>", "</user_query>"
)

var (
	attachedSkill = lazyregexp.New(`(?m)^Skill Name: (\S{1,256})\r?\nPath: ([^\r\n]+)$`)
	timestamp     = lazyregexp.New(`<timestamp>([^<>()]{1,64}) \(UTC([^<>()]{0,6})\)</timestamp>`)
)

// blocks are the tags of what Cursor puts beside what the person typed.
var blocks = []string{"timestamp", "attached_files", "image_files", "user_info", "rules", "agent_skills", "additional_data", "git_status",
	"open_and_recently_viewed_files", "custom_instructions", "project_layout", "agent_transcripts", "mcp_file_system", "mcp_meta_tools", "hooks_context",
	"cursor_rules_context", "system_notification", "dynamic_tools"}

// notes are the beginnings of requests that the program makes in the user's name.
var notes = []string{"Briefly inform the user about the task result", "The beginning of the above subagent result is already visible"}

// typed separates what the person typed from what the program put beside it: the query
// that it marks, if it marks one. The text of a skill may hold any mark, so what is in it
// ends with the last mark that can end it.
func typed(text string) (query string, attached []attachment) {
	if from := strings.Index(text, skillsTag); from >= 0 && !strings.Contains(text[:from], queryTag) {
		to := strings.LastIndex(text, skillsEnd)
		if to < from {
			to = len(text)
		}
		if m := attachedSkill.FindStringSubmatch(text[from:to]); m != nil {
			if _, dir, ok := harvest.SkillFile(strings.TrimSpace(m[2])); ok {
				attached = append(attached, attachment{m[1], dir})
			}
		}
		text = text[:from] + strings.TrimPrefix(text[to:], skillsEnd)
	}
	text = typedOf(text)
	text = strings.TrimSpace(ownwords.CutInjected(text))
	if strings.HasPrefix(text, "<") || harvest.Injected(text) || slices.ContainsFunc(notes, func(n string) bool { return strings.HasPrefix(text, n) }) {
		return "", nil
	}
	return text, attached
}

// typedOf is the query that is marked in a text, or what is left without the program's
// blocks. What is in a block may hold any mark, too: a block that begins before the query
// is cut first, and the query ends before one that begins behind it.
func typedOf(text string) string {
	for {
		query, first, tag := strings.Index(text, queryTag), -1, ""
		for _, t := range blocks {
			if at := strings.Index(text, "<"+t+">"); at >= 0 && (first < 0 || at < first) {
				first, tag = at, t
			}
		}
		if query >= 0 && (first < 0 || query < first) {
			return queryIn(text[query+len(queryTag):])
		}
		if first < 0 {
			return text
		}
		to := strings.LastIndex(text, "</"+tag+">")
		if to < first {
			return text[:first]
		}
		text = text[:first] + text[to+len(tag)+3:]
	}
}

// queryIn is a text up to the end of the query: the last mark, but for those in blocks.
func queryIn(text string) string {
	end := strings.LastIndex(text, queryEnd)
	if end < 0 {
		return text
	}
	for at := 0; at < end; {
		next := strings.Index(text[at:], queryEnd)
		behind := text[at+next+len(queryEnd):]
		if slices.ContainsFunc(blocks, func(t string) bool { return strings.HasPrefix(strings.TrimSpace(behind), "<"+t+">") }) {
			return text[:at+next]
		}
		at += next + len(queryEnd)
	}
	return text[:end]
}

// when reads a time and its zone, "Monday, Jun 8, 2026, 11:48 PM" and "-7" or "+5:30".
func when(stamp, zone string) time.Time {
	at, err := time.Parse("Monday, Jan 2, 2006, 3:04 PM", stamp)
	if err != nil {
		return time.Time{}
	}
	var hours, minutes int
	if zone != "" {
		if n, _ := fmt.Sscanf(zone, "%d:%d", &hours, &minutes); n == 0 || hours < -14 || hours > 14 {
			return time.Time{}
		}
		if zone[0] == '-' {
			minutes = -minutes
		}
	}
	return at.Add(-time.Duration(hours)*time.Hour - time.Duration(minutes)*time.Minute).UTC()
}
