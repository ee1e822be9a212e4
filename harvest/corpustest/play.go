package corpustest

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/harvest"
)

var (
	skills   = []string{"dataviz", "changelog", "review", "tdd", "github:gh-fix-ci", "acme:flows:deploy", "docs_site"}
	requests = []string{"Plot weekly revenue from data/revenue.csv", "Write the notes for the next release", "Look at my branch before I push",
		"The build on main is red, find out why", "Add a test for the parser of dates", "Draft the page about installation"}
	findings = []string{"I read the file and made the change.", "The chart is saved as out/revenue.svg.", "All 214 tests pass now.",
		"Two problems remain; both are in the parser.", "The notes list eleven changes, the breaking one first."}
	// What people write about a result, by its label.
	reactions = map[harvest.Label][]string{
		harvest.Corrected: {"No, the y axis must be logarithmic.", "That's wrong, the currency is euros, not dollars. Fix it.",
			"You forgot the breaking change. Add it at the top.", "Not what I asked for: I wanted one line per change."},
		harvest.Accepted: {"Perfect, thanks!", "Great, commit it.", "Looks good, push it please."},
	}
	nextSubjects = []string{"Now let us turn to the login page: its title is missing", "Another thing: which Go version does the CI use?",
		"Please explain how the cache of the build works"}
)

// maxOutput is what Claude Code keeps of a command's output, in bytes; files may
// be longer.
const maxOutput = 30000

// play writes the whole session: turns until it has its target length.
func (s *session) play() {
	s.bookkeeping("mode", `"mode":"normal"`)
	s.bookkeeping("permission-mode", `"permissionMode":"acceptEdits"`)
	s.attachments()
	turns := 3 + s.IntN(4)
	for i := range turns {
		share := (s.target - int64(s.out.Len())) / int64(turns-i)
		s.turn(i, int(max(share, 2000)))
	}
	if s.n%20 == 0 {
		s.subagent()
	}
}

func (s *session) attachments() {
	s.record(func(w *bufio.Writer) {
		fmt.Fprintf(w, `"attachment":{"type":"skill_listing","content":"%s","skillCount":7},"type":"attachment"`, escape("- "+strings.Join(skills, ": does it well\n- ")+": does it well"))
	}, nil)
	s.bookkeeping("file-history-snapshot", fmt.Sprintf(`"messageId":"%s","snapshot":{"trackedFileBackups":{}},"isSnapshotUpdate":false`, uuid(s.Rand)))
}

// turn is one message of the user's and what follows, about size bytes.
func (s *session) turn(i, size int) {
	end, before := s.out.Len()+size, s.prompt
	s.prompt = uuid(s.Rand)
	s.m.Turns++
	if i == 0 {
		s.use(s.n % len(uses))
	} else {
		s.react(before)
	}
	s.bookkeeping("last-prompt", `"lastPrompt":"elided"`)
	for rounds := 0; s.out.Len() < end-2000 && rounds < 400; rounds++ {
		// Most outputs are short, most bytes are in the long ones.
		n := 500 + s.IntN(6000)
		if s.IntN(4) == 0 {
			n = 20000 + s.IntN(200000)
		}
		s.work(min(n, end-s.out.Len()))
	}
	text := findings[s.IntN(len(findings))]
	switch s.IntN(3) {
	case 0:
		text += "\n\nFor the record: " + s.secret(Answer) + "\n\nThat is all."
	case 1:
		text += "\n\n" + s.harmless(Answer) + "\n\nThat is all."
	}
	text += "\n\n" + strings.Repeat("It was necessary to look at how the other parts call it. ", 3+s.IntN(20))
	s.answer(text)
	s.record(func(w *bufio.Writer) {
		fmt.Fprintf(w, `"type":"system","subtype":"turn_duration","durationMs":%d,"isMeta":false`, 1000+s.IntN(100000))
	}, nil)
}

// work is one tool call with its result of about n bytes.
func (s *session) work(n int) {
	switch s.IntN(12) {
	case 0:
		s.think(s.secret(Thinking))
	case 1:
		s.bookkeeping("api-request-blob", fmt.Sprintf(`"hash":"%s","message":{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"Skill","input":{"skill":"%s"}}]}`, draw(s.Rand, 64, hexa), skills[0]))
	case 2:
		s.answer("Let me look. " + findings[s.IntN(len(findings))])
	}
	planted := ""
	if s.IntN(8) == 0 {
		planted = s.secret(ToolResult) + "\n"
	}
	switch s.IntN(6) {
	case 0:
		code := planted + strings.Repeat("func plot(weeks []week) error { return draw(weeks) }\n", 10+s.IntN(80))
		s.result(s.call("Write", `{"file_path":"/home/dev/x.go","content":"`+escape(code)+`"}`), planted, n, false)
		if planted != "" { // it is in the input as well
			last := s.m.Secrets[len(s.m.Secrets)-1]
			last.Place = ToolInput
			s.m.Secrets[len(s.m.Secrets)-1] = last
		}
	case 1:
		s.result(s.call("Bash", `{"command":"go test ./... 2>&1 | tail -40"}`), planted, min(n, 2*maxOutput), true)
	default:
		s.result(s.call("Read", `{"file_path":"/home/dev/data/revenue.csv"}`), planted, n, false)
	}
}

// request is what the user asks for, with something planted in most of them.
func (s *session) request() string {
	text := requests[s.IntN(len(requests))]
	if s.IntN(2) == 0 {
		text += "\n\n" + s.secret(Prompt)
	}
	if s.IntN(2) == 0 {
		text += "\n\nSee also:\n" + s.harmless(Prompt)
	}
	return text
}

// react is a message after a use of a skill: about it, or about something else. before is
// the turn that it follows.
func (s *session) react(before string) {
	last := &s.m.Invocations[len(s.m.Invocations)-1]
	mine := last.Session == s.file.id && last.Label == "" && !last.Failed
	switch k := s.IntN(4); {
	case k < 2 && mine:
		label := []harvest.Label{harvest.Corrected, harvest.Accepted}[k]
		for j := range s.m.Invocations { // one turn may have used two; behind another message, it is about that
			if v := &s.m.Invocations[j]; v.Session == last.Session && v.Turn == last.Turn && v.Turn == before {
				v.Label = label
			}
		}
		s.say(reactions[label][s.IntN(len(reactions[label]))], `,"promptSource":"typed"`)
	case k == 2:
		s.use(s.IntN(len(uses)))
	default:
		if mine {
			last.Label = harvest.Unknown
		}
		s.say(nextSubjects[s.IntN(len(nextSubjects))]+"\n\n"+s.request(), `,"promptSource":"typed"`)
	}
}

// uses are the ways of calling a skill, and look-alikes that call none.
var uses = []func(s *session, name string){
	func(s *session, name string) { // the agent calls it
		s.say(s.request(), `,"promptSource":"typed"`)
		s.skill(name, harvest.SkillToolUse)
	},
	func(s *session, name string) { // the user types it
		s.command(name, s.request())
		s.used(name, harvest.PromptSlashCommand, false, "")
		s.body(name, "")
	},
	func(s *session, name string) { // the user types it, and the agent calls the tool: one use
		s.command(name, s.request())
		s.skill(name, harvest.SkillToolUse)
	},
	func(s *session, name string) { // typed into a client that does not expand it
		s.say("/"+name+" "+s.request(), `,"promptSource":"typed"`)
		s.used(name, harvest.PromptSlashCommand, false, "")
	},
	func(s *session, name string) { // two in one turn
		s.say(s.request(), `,"promptSource":"typed"`)
		s.skill(name, harvest.SkillToolUse)
		s.work(1000)
		s.skill(skills[(s.n+3)%len(skills)]+"-next", harvest.SkillToolUse)
	},
	func(s *session, _ string) { // one with the name of a command of the program
		s.command("release-notes", s.request())
		if s.IntN(2) == 0 {
			s.skill("release-notes", harvest.SkillToolUse)
			return
		}
		s.used("release-notes", harvest.PromptSlashCommand, false, "")
		s.body("release-notes", "")
	},
	func(s *session, _ string) { // one that does not exist
		s.say(s.request(), `,"promptSource":"typed"`)
		id := s.call("Skill", `{"skill":"no-such-skill"}`)
		s.used("no-such-skill", harvest.SkillToolUse, true, "")
		s.result(id, "<tool_use_error>Unknown skill: no-such-skill</tool_use_error>", 0, true)
	},
	func(s *session, name string) { // no use: a command of the program, a path, a quotation, a skill of the same name elsewhere
		s.say("<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args></command-args>", "")
		s.say("<local-command-stdout>Set model to opus</local-command-stdout>", "")
		s.prompt = uuid(s.Rand)
		s.say("/tmp/out.log says that \"/"+name+"\" failed; "+s.request(), `,"promptSource":"typed"`)
		id := s.call("SkillSearch", `{"skill":"`+name+`"}`)
		s.result(id, `{"type":"tool_use","name":"Skill","input":{"skill":"`+name+`"}}`, 2000, false)
		s.answer("I could call `{\"name\":\"Skill\"}` or /" + name + ".")
	},
}

func (s *session) use(i int) { uses[i](s, skills[s.IntN(len(skills))]) }

func (s *session) command(name, args string) {
	s.say(fmt.Sprintf("<command-message>%s</command-message>\n<command-name>/%s</command-name>\n<command-args>%s</command-args>", name, name, args), `,"promptSource":"typed"`)
}

// skill is a call of the Skill tool that succeeds.
func (s *session) skill(name string, signal harvest.Signal) {
	id := s.call("Skill", `{"skill":"`+name+`","args":""}`)
	s.used(name, signal, false, "")
	s.record(func(w *bufio.Writer) {
		fmt.Fprintf(w, `"promptId":"%s","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":"Launching skill: %s"}]}`, s.prompt, id, name)
	}, func(w *bufio.Writer) { fmt.Fprintf(w, `"toolUseResult":{"success":true,"commandName":"%s"}`, name) })
	s.body(name, id)
}

// subagent is a transcript of an agent that the session's agent has called.
func (s *session) subagent() {
	agent := "a" + draw(s.Rand, 16, hexa)
	main := s.file
	s.begin(&file{name: strings.TrimSuffix(main.name, ".jsonl") + "/subagents/agent-" + agent + ".jsonl", agent: agent, id: s.id + "/" + agent}, "project")
	s.prompt = uuid(s.Rand)
	s.m.Turns++
	s.say("Find every caller of plot().\n\n"+s.secret(Prompt), "")
	s.skill(skills[s.IntN(len(skills))], harvest.SkillToolUse)
	s.work(3000)
	s.answer("There are three callers.\n\n" + s.harmless(Answer))
	s.file = main
}
