package claude_test

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/harvest"
)

// inBlocks is a message whose content is text blocks.
func inBlocks(texts ...string) string {
	var all []string
	for _, text := range texts {
		all = append(all, `{"type":"text","text":`+quote(text)+`}`)
	}
	return strings.Replace(typed("p2", "v", "X"), `"X"`, "["+strings.Join(all, ",")+"]", 1)
}

// What an editor, a hook or another agent put into a message is not what the
// person typed, however it ends or is spelled.
func TestInjectedIsNotTyped(t *testing.T) {
	const selection = "<ide_selection>The user selected the lines 1 to 9 from /p/README.md:\n# Colours\n"
	with := func(text, field string) string {
		return strings.Replace(typed("p2", "v", text), `"type":"user"`, `"type":"user",`+field, 1)
	}
	queued := func(origin string) string {
		return `{"isSidechain":false,"attachment":{"type":"queued_command","prompt":"no, wrong","source_uuid":"q","origin":` + origin + `},"type":"attachment","uuid":"x",` + tail
	}
	for name, c := range map[string]struct{ want, line string }{
		"selection, own block":      {"thanks", inBlocks(selection+"</ide_selection>", "thanks")},
		"two blocks before":         {"thanks", inBlocks("<ide_opened_file>The user opened /p/a.md</ide_opened_file>", selection+"</ide_selection>", "thanks")},
		"closed in the own block":   {"thanks", inBlocks(selection+"</ide_selection>\nno, wrong", "thanks")},
		"closed and opened":         {"thanks", inBlocks(selection+"</ide_selection>\nno, wrong\n<ide_selection>rest</ide_selection>", "thanks")},
		"in one text":               {"thanks", typed("p2", "v", selection+"</ide_selection>\nthanks")},
		"in one text, closed twice": {"thanks", typed("p2", "v", selection+"</ide_selection>\nno, wrong\n<ide_selection>rest</ide_selection>\nthanks")},
		"closed by another":         {"", typed("p2", "v", "<system-reminder>a</ide_selection>no, wrong")},
		"nested":                    {"thanks", typed("p2", "v", "<system-reminder>a<system-reminder>b</system-reminder>no, wrong</system-reminder>thanks")},
		"left open":                 {"thanks", typed("p2", "v", "thanks <system-reminder>\nno, wrong")},
		"only closed":               {"thanks", typed("p2", "v", "no, wrong</system-reminder> thanks")},
		"split over blocks":         {"", inBlocks("thanks", "<ide_selection>no", "wrong</ide_selection>")},
		"upper case":                {"thanks", typed("p2", "v", "<SYSTEM-REMINDER>no, wrong</System-Reminder>thanks")},
		"attributes and spaces":     {"thanks", typed("p2", "v", "< ide_selection lines='1' >no, wrong</ ide_selection >thanks")},
		"hidden letters":            {"thanks", typed("p2", "v", "<ide\u200b_selection>no, wrong</ide_\u2060selection>thanks")},
		"a hook's words":            {"thanks", inBlocks("<session-start-hook>no, wrong</session-start-hook>", "thanks")},
		"a hook stopped it":         {"", typed("p2", "v", "Operation stopped by hook: no, wrong")},
		"a command beside a file":   {"/dataviz as bars", inBlocks("<ide_opened_file>x</ide_opened_file>", "<command-message>dataviz</command-message>\n<command-name>/dataviz</command-name>\n<command-args>as bars</command-args>")},
		"a task":                    {"", with("no, wrong", `"origin":{"kind":"task-notification"}`)},
		"a peer":                    {"", with("no, wrong", `"origin":{"kind":"peer","from":"x"}`)},
		"a person":                  {"no, wrong", with("no, wrong", `"origin":{"kind":"human"}`)},
		"queued by an agent":        {"", queued(`"coordinator"`)},
		"queued by a task":          {"", queued(`{"kind":"task-notification"}`)},
		"queued by a person":        {"no, wrong", queued(`{"kind":"human"}`)},
		"a tool's":                  {"", with("no, wrong", `"sourceToolAssistantUUID":"a"`)},
	} {
		t.Run(name, func(t *testing.T) {
			s, problems := read(t, typed("p", "u", "draw it"), called("m", "Skill", "t1", `{"skill":"dataviz"}`), said("m2", "Done."), c.line)
			want := strings.TrimSuffix("draw it|"+c.want, "|")
			if got := prompts(s); got != want || len(problems) > 0 {
				t.Errorf("prompts %q, want %q; problems %v", got, want, problems)
			}
			if f := s.Invocations[0].Feedback; f.Label == harvest.Corrected && c.want != "no, wrong" {
				t.Errorf("%+v", f)
			}
		})
	}
}
