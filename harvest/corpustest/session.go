package corpustest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/harvest"
)

// A file is one transcript being written.
type file struct {
	name   string // below the corpus's folder
	out    bytes.Buffer
	parent string
	agent  string // of a subagent
	tail   string // the fields that end every record
	id     string // as harvest will name the session
}

// A session is one conversation being generated.
type session struct {
	*rand.Rand
	m      *Manifest
	filler *filler
	n      int
	id     string
	now    time.Time
	files  []*file
	*file  // that is being written
	target int64
	prompt string // promptId of the turn
	model  string
}

func newSession(seed uint64, n int, f *filler, m *Manifest) *session {
	s := &session{Rand: rand.New(rand.NewPCG(seed, uint64(n)+1)), m: m, filler: f, n: n, model: "claude-opus-5-5"}
	s.now = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(n)*97*time.Minute + time.Duration(s.IntN(3600))*time.Second)
	s.id = uuid(s.Rand)
	project := fmt.Sprintf("project%02d", n%17)
	s.begin(&file{name: "projects/-home-dev-" + project + "/" + s.id + ".jsonl", id: s.id}, project)
	return s
}

func (s *session) begin(f *file, project string) {
	f.tail = fmt.Sprintf(`"userType":"external","entrypoint":"cli","cwd":"/home/dev/%s","sessionId":"%s","version":"2.1.329","gitBranch":"main"}`, project, s.id)
	s.files = append(s.files, f)
	s.file = f
}

// escape is text as JSON has it between quotes.
func escape(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // a string always encodes
	}
	return string(b.Bytes()[1 : b.Len()-2])
}

// bookkeeping writes a record that is no part of the conversation.
func (s *session) bookkeeping(kind, rest string) {
	fmt.Fprintf(&s.out, `{"type":"%s",%s,"sessionId":"%s"}`+"\n", kind, rest, s.id)
}

// record writes one record of the conversation. body are the fields between those that
// all records begin and end with, up to message or attachment; rest, which may be nil,
// are the fields after the time.
func (s *session) record(body, rest func(w *bufio.Writer)) {
	s.now = s.now.Add(time.Duration(200+s.IntN(4000)) * time.Millisecond)
	w := bufio.NewWriterSize(&s.out, 32<<10)
	parent := "null"
	if s.parent != "" {
		parent = `"` + s.parent + `"`
	}
	fmt.Fprintf(w, `{"parentUuid":%s,"isSidechain":%t,`, parent, s.agent != "")
	if s.agent != "" {
		fmt.Fprintf(w, `"agentId":"%s",`, s.agent)
	}
	body(w)
	s.parent = uuid(s.Rand)
	fmt.Fprintf(w, `,"uuid":"%s","timestamp":"%s",`, s.parent, s.now.Format("2006-01-02T15:04:05.000Z"))
	if rest != nil {
		rest(w)
		w.WriteByte(',')
	}
	w.WriteString(s.tail + "\n")
	w.Flush()
}

// say is a message of the user's; extra are fields such as isMeta.
func (s *session) say(text, extra string) {
	s.record(func(w *bufio.Writer) {
		fmt.Fprintf(w, `"promptId":"%s","type":"user","message":{"role":"user","content":"%s"}%s`, s.prompt, escape(text), extra)
	}, nil)
}

// assistant writes one message of the model's with one block.
func (s *session) assistant(block func(w *bufio.Writer), stop string) {
	s.record(func(w *bufio.Writer) {
		fmt.Fprintf(w, `"message":{"id":"msg_%s","type":"message","role":"assistant","model":"%s","content":[`, draw(s.Rand, 24, hexa), s.model)
		block(w)
		fmt.Fprintf(w, `],"stop_reason":"%s","stop_sequence":null,"usage":{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":%d}},"requestId":"req_%s","type":"assistant"`,
			stop, s.IntN(900), s.IntN(9000), s.IntN(90000), s.IntN(2000), draw(s.Rand, 24, hexa))
	}, nil)
}

// answer is a text of the model's.
func (s *session) answer(text string) {
	s.assistant(func(w *bufio.Writer) { fmt.Fprintf(w, `{"type":"text","text":"%s"}`, escape(text)) }, "end_turn")
}

func (s *session) think(secret string) {
	s.assistant(func(w *bufio.Writer) {
		fmt.Fprintf(w, `{"type":"thinking","thinking":"%s","signature":"%s"}`, escape("The user has given me "+secret+"\nso I will look."), draw(s.Rand, 400+s.IntN(1200), base64s))
	}, "tool_use")
}

// call is a tool call, its input given as JSON. It returns the call's id.
func (s *session) call(name, input string) string {
	id := "toolu_" + draw(s.Rand, 24, alnum)
	s.assistant(func(w *bufio.Writer) {
		fmt.Fprintf(w, `{"type":"tool_use","id":"%s","name":"%s","input":%s}`, id, name, input)
	}, "tool_use")
	return id
}

// result is what a tool printed: planted, then about n bytes of filler. As in the
// program, the record contains it twice.
func (s *session) result(id, planted string, n int, failed bool) {
	flag := ""
	if failed {
		flag = `,"is_error":true`
	}
	at := s.Uint64()
	half := func(w *bufio.Writer) {
		w.WriteString(escape(planted))
		s.filler.text(rand.New(rand.NewPCG(at, 0)), w, n/2)
	}
	s.record(func(w *bufio.Writer) {
		fmt.Fprintf(w, `"promptId":"%s","type":"user","message":{"role":"user","content":[{"tool_use_id":"%s","type":"tool_result","content":"`, s.prompt, id)
		half(w)
		fmt.Fprintf(w, `"%s}]}`, flag)
	}, func(w *bufio.Writer) {
		w.WriteString(`"toolUseResult":{"stdout":"`)
		half(w)
		w.WriteString(`","stderr":"","interrupted":false,"isImage":false}`)
	})
}

// body is the text of a skill, as the program puts it into the conversation.
func (s *session) body(name, toolUseID string) {
	extra := `,"isMeta":true`
	if toolUseID != "" {
		extra += fmt.Sprintf(`,"sourceToolUseID":"%s"`, toolUseID)
	}
	s.say("Base directory for this skill: /home/dev/.claude/skills/"+name+"\n\n# "+name+"\n\n"+strings.Repeat("Do it well, and say what you did. ", 40), extra)
}

// secret returns the next kind in turn, so that each is planted equally often.
func (s *session) secret(place string) string {
	k := secretKinds[len(s.m.Secrets)%len(secretKinds)]
	text, parts := k.make(s.Rand)
	s.m.Secrets = append(s.m.Secrets, Secret{s.file.id, k.name, place, parts})
	return text
}

func (s *session) harmless(place string) string {
	k := harmlessKinds[len(s.m.Harmless)%len(harmlessKinds)]
	text := k.make(s.Rand)
	s.m.Harmless = append(s.m.Harmless, Harmless{s.file.id, k.name, place, text})
	return text
}

func (s *session) used(skill string, signal harvest.Signal, failed bool, label harvest.Label) {
	s.m.Invocations = append(s.m.Invocations, Invocation{s.file.id, s.prompt, skill, signal, failed, label})
}
