package ingest

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/claude"
	"github.com/skill-evolve/evolve/harvest/codex"
	"github.com/skill-evolve/evolve/harvest/copilot"
	"github.com/skill-evolve/evolve/harvest/corpustest"
	"github.com/skill-evolve/evolve/harvest/pi"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
)

// corpusFolder names another corpus in the format of testdata/secrets, which is scored
// and printed.
const corpusFolder = "EVOLVE_SECRETS_CORPUS"

// A planted text holds secrets, or look-alikes that have to stay. Secrets are made when
// the test runs: a specification is "prefix|alphabet:count|suffix".
type planted struct {
	ID       string    `json:"id"`
	Row      string    `json:"row"`
	Kind     string    `json:"kind"`
	Class    string    `json:"class"` // typed, tool or answer
	Text     string    `json:"text"`
	Messages []message `json:"messages"` // in the place of Class and Text
	Secrets  []string  `json:"secrets"`
	Keep     []string  `json:"keep"`

	values, bodies []string // the secrets, and what of each is made up
}

type message struct {
	Class string `json:"class"`
	Text  string `json:"text"`
}

var (
	specification = regexp.MustCompile(`^([^|]*)\|([a-z0-9]+):([1-9]\d*)\|([^|]*)$`)
	slot          = regexp.MustCompile(`\{\{(\d+)\}\}`)
)

// make makes the secrets of a text.
func (p *planted) make(t *testing.T) {
	seed := fnv.New64a()
	seed.Write([]byte(p.ID))
	r := rand.New(rand.NewPCG(seed.Sum64(), 17))
	for _, s := range p.Secrets {
		m := specification.FindStringSubmatch(s)
		if m == nil {
			t.Fatalf("%s: specification %q", p.ID, s)
		}
		n, _ := strconv.Atoi(m[3])
		body := madeUp(r, m[2], n)
		p.bodies = append(p.bodies, body)
		p.values = append(p.values, m[1]+body+m[4])
	}
	if len(p.Messages) == 0 {
		p.Messages = []message{{p.Class, p.Text}}
	}
	for i := range p.Messages {
		p.Messages[i].Text = slot.ReplaceAllStringFunc(p.Messages[i].Text, func(m string) string {
			n, _ := strconv.Atoi(strings.Trim(m, "{}"))
			return p.values[n-1]
		})
	}
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

var alphabets = map[string]string{"hex": "0123456789abcdef", "digits": "0123456789", "pin": "0123456789", "lower": letters[:26], "upper": letters[26:],
	"alnum": letters + "0123456789", "base64": letters + "0123456789+/", "base64url": letters + "0123456789-_", "base32": letters[26:] + "234567"}

func madeUp(r *rand.Rand, alphabet string, n int) string {
	const digits = "0123456789"
	for {
		var b strings.Builder
		switch alphabet {
		case "words":
			words := strings.Fields("amber anchor basket beetle candle canyon copper cradle dragon ember falcon feather galaxy garden hammer harbor island jacket kettle lantern lizard magnet meadow needle nutmeg orchid oyster paddle pepper quartz rabbit ribbon saddle shadow silver tunnel turtle velvet violet walnut whistle window winter yellow zipper")
			for i := range n {
				if i > 0 {
					b.WriteByte('-')
				}
				b.WriteString(words[r.IntN(len(words))])
			}
			return b.String()
		case "password":
			ends, all := letters+digits, letters+digits+letters+digits+strings.Repeat("!#%*_", 4)
			b.WriteByte(ends[r.IntN(len(ends))])
			for range n - 2 {
				b.WriteByte(all[r.IntN(len(all))])
			}
			b.WriteByte(ends[r.IntN(len(ends))])
			if v := b.String(); strings.ContainsAny(v, digits) && strings.ContainsAny(v, letters) && strings.ContainsAny(v, "!#%*_") {
				return v
			}
		default:
			abc := alphabets[alphabet]
			for range n {
				b.WriteByte(abc[r.IntN(len(abc))])
			}
			if v := b.String(); n < 4 || alphabet != "alnum" && alphabet != "hex" && alphabet != "base32" || strings.ContainsAny(v, digits) && strings.ContainsAny(v, letters) {
				return v
			}
		}
	}
}

// leaks are the secrets that a text holds, whole or what is made up of them.
func (p *planted) leaks(text string) (out []string) {
	for i, v := range p.values {
		if strings.Contains(text, v) || len(p.bodies[i]) >= 8 && strings.Contains(text, p.bodies[i]) {
			out = append(out, v)
		}
	}
	return out
}

func readPlanted(t *testing.T, dir, name string) (out []*planted) {
	f, err := os.Open(filepath.Join(dir, name))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		p := new(planted)
		if err := json.Unmarshal(lines.Bytes(), p); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p.make(t)
		out = append(out, p)
	}
	return out
}

// A scribble writes a session as an agent does: its messages in order, behind the use
// of a skill. It returns the file's name below the agent's home.
type scribble struct {
	agent string
	kind  harvest.Kind
	write func(id string, messages []message) (name string, lines []any)
}

func at(n int) string {
	return time.Date(2026, 10, 1, 8, 0, n, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
}

type obj = map[string]any

var scribbles = []scribble{
	{"claude", claude.Kind, func(id string, messages []message) (string, []any) {
		var out []any
		add := func(kind string, fields obj) {
			rec := obj{"type": kind, "uuid": fmt.Sprintf("%s-%d", id, len(out)), "timestamp": at(len(out)), "sessionId": id, "cwd": "/home/dev/project", "userType": "external", "version": "2.1.329", "entrypoint": "cli"}
			maps.Copy(rec, fields)
			out = append(out, rec)
		}
		user := func(text string) {
			add("user", obj{"promptId": fmt.Sprint("p", len(out)), "promptSource": "typed", "message": obj{"role": "user", "content": text}})
		}
		answer := func(blocks ...any) {
			add("assistant", obj{"message": obj{"id": fmt.Sprint("msg_", len(out)), "role": "assistant", "model": "m", "content": blocks}})
		}
		user("/dataviz make a chart of data/revenue.csv")
		answer(obj{"type": "tool_use", "id": id + "-s", "name": "Skill", "input": obj{"skill": "dataviz"}})
		add("user", obj{"message": obj{"role": "user", "content": []any{obj{"type": "tool_result", "tool_use_id": id + "-s", "content": "Launching skill: dataviz"}}}})
		answer(obj{"type": "text", "text": "The chart is saved."})
		for i, m := range messages {
			switch m.Class {
			case "typed":
				user(m.Text)
			case "answer":
				if i == 0 {
					user("what is it?")
				}
				answer(obj{"type": "text", "text": m.Text})
			case "tool":
				if i == 0 {
					user("run it")
				}
				call := fmt.Sprintf("%s-t%d", id, i)
				answer(obj{"type": "tool_use", "id": call, "name": "Bash", "input": obj{"command": "printf '%s' " + strconv.Quote(m.Text)}})
				add("user", obj{"message": obj{"role": "user", "content": []any{obj{"type": "tool_result", "tool_use_id": call, "content": m.Text}}}, "toolUseResult": obj{"stdout": m.Text}})
			}
		}
		if messages[len(messages)-1].Class != "answer" {
			answer(obj{"type": "text", "text": "Done."})
		}
		return "projects/-home-dev-project/" + id + ".jsonl", out
	}},
	{"codex", codex.Kind, func(id string, messages []message) (string, []any) {
		var out []any
		add := func(kind string, payload obj) {
			out = append(out, obj{"timestamp": at(len(out)), "type": kind, "payload": payload})
		}
		user := func(text string) {
			add("response_item", obj{"type": "message", "role": "user", "id": fmt.Sprintf("%s-%d", id, len(out)), "content": []any{obj{"type": "input_text", "text": text}},
				"internal_chat_message_metadata_passthrough": obj{"turn_id": fmt.Sprint("t", len(out)), "content_item_kinds": []string{"user.text"}}})
			add("event_msg", obj{"type": "item_completed", "item": obj{"type": "UserMessage", "content": []any{obj{"type": "text", "text": text}}}})
		}
		answer := func(text string) {
			add("response_item", obj{"type": "message", "role": "assistant", "content": []any{obj{"type": "output_text", "text": text}}})
		}
		add("session_meta", obj{"id": id, "cwd": "/home/dev/project", "originator": "codex_cli", "source": "cli"})
		user("make a chart of data/revenue.csv")
		answer("The chart is saved.")
		for i, m := range messages {
			switch m.Class {
			case "typed":
				user(m.Text)
			case "answer":
				if i == 0 {
					user("what is it?")
				}
				answer(m.Text)
			case "tool":
				if i == 0 {
					user("run it")
				}
				call := fmt.Sprintf("%s-t%d", id, i)
				args, _ := json.Marshal(obj{"cmd": "printf '%s' " + strconv.Quote(m.Text)})
				add("response_item", obj{"type": "function_call", "name": "exec_command", "call_id": call, "arguments": string(args)})
				add("response_item", obj{"type": "function_call_output", "call_id": call, "output": "Process exited with code 0\nOutput:\n" + m.Text})
			}
		}
		if messages[len(messages)-1].Class != "answer" {
			answer("Done.")
		}
		return "sessions/2026/10/01/rollout-2026-10-01T08-00-00-" + id + ".jsonl", out
	}},
	{"pi", pi.Kind, func(id string, messages []message) (string, []any) {
		out := []any{obj{"type": "session", "version": 3, "id": id, "timestamp": at(0), "cwd": "/home/dev/project"}}
		parent := any(nil)
		add := func(m obj) {
			n := fmt.Sprintf("%s-%d", id, len(out))
			out = append(out, obj{"type": "message", "id": n, "parentId": parent, "timestamp": at(len(out)), "message": m})
			parent = n
		}
		text := func(role, text string) {
			add(obj{"role": role, "content": []any{obj{"type": "text", "text": text}}, "stopReason": "stop"})
		}
		text("user", "make a chart of data/revenue.csv")
		text("assistant", "The chart is saved.")
		for i, m := range messages {
			switch m.Class {
			case "typed":
				text("user", m.Text)
			case "answer":
				if i == 0 {
					text("user", "what is it?")
				}
				text("assistant", m.Text)
			case "tool":
				if i == 0 {
					text("user", "run it")
				}
				call := fmt.Sprintf("%s-t%d", id, i)
				add(obj{"role": "assistant", "content": []any{obj{"type": "toolCall", "id": call, "name": "bash", "arguments": obj{"command": "printf '%s' " + strconv.Quote(m.Text)}}}, "stopReason": "toolUse"})
				add(obj{"role": "toolResult", "toolCallId": call, "toolName": "bash", "content": []any{obj{"type": "text", "text": m.Text}}, "isError": false})
			}
		}
		if messages[len(messages)-1].Class != "answer" {
			text("assistant", "Done.")
		}
		return "sessions/--home-dev-project--/2026-10-01T08-00-00-000Z_" + id + ".jsonl", out
	}},
	{"copilot", copilot.Kind, func(id string, messages []message) (string, []any) {
		var out []any
		add := func(kind string, data obj) {
			out = append(out, obj{"type": kind, "data": data, "id": fmt.Sprintf("%s-%d", id, len(out)), "timestamp": at(len(out))})
		}
		user := func(text string) {
			add("user.message", obj{"content": text, "transformedContent": "<current_datetime/>\n\n" + text, "messageId": fmt.Sprintf("%s-m%d", id, len(out))})
		}
		answer := func(text string, calls ...any) {
			add("assistant.message", obj{"content": text, "model": "m", "toolRequests": append([]any{}, calls...)})
		}
		add("session.start", obj{"sessionId": id, "context": obj{"cwd": "/home/dev/project"}})
		user("make a chart of data/revenue.csv")
		answer("The chart is saved.")
		for i, m := range messages {
			switch m.Class {
			case "typed":
				user(m.Text)
			case "answer":
				if i == 0 {
					user("what is it?")
				}
				answer(m.Text)
			case "tool":
				if i == 0 {
					user("run it")
				}
				call := fmt.Sprintf("%s-t%d", id, i)
				answer("", obj{"toolCallId": call, "name": "bash", "arguments": obj{"command": "printf '%s' " + strconv.Quote(m.Text)}})
				add("tool.execution_complete", obj{"toolCallId": call, "success": true, "result": obj{"content": m.Text}})
			}
		}
		if messages[len(messages)-1].Class != "answer" {
			answer("Done.")
		}
		return "session-state/" + id + "/events.jsonl", out
	}},
}

// A tally counts what was found of what was planted.
type tally struct {
	all, good int
	failed    []string
}

func (c *tally) rate() float64 { return 100 * float64(c.good) / float64(max(1, c.all)) }

type tallies map[string]*tally

func (t tallies) add(name string, ok bool, why string) {
	if t[name] == nil {
		t[name] = new(tally)
	}
	t[name].all++
	if ok {
		t[name].good++
		return
	}
	t[name].failed = append(t[name].failed, why)
}

// harvested is what is kept of sessions: of each, by agent and id, the prompts and
// answers, and everything as JSON.
type harvested struct{ texts, all string }

// scored harvests a corpus with every agent's reader, and counts by class: what was kept
// out of secrets, and how many look-alikes were left whole. What tools are given and
// print is not kept: it goes through the redactor alone.
func scored(t *testing.T, dir string) (recall, decoys tallies) {
	forms, harmless := readPlanted(t, dir, "forms.jsonl"), readPlanted(t, dir, "decoys.jsonl")
	sessions := slices.Concat(readPlanted(t, dir, "sessions.jsonl"), readPlanted(t, dir, "asked.jsonl"))
	g := person(t)
	var sources []Source
	all := slices.Concat(forms, sessions, harmless)
	for _, s := range scribbles {
		root := filepath.Join(t.TempDir(), s.agent)
		for _, p := range all {
			name, lines := s.write(p.ID, p.Messages)
			var text bytes.Buffer
			e := json.NewEncoder(&text)
			e.SetEscapeHTML(false)
			for _, l := range lines {
				if err := e.Encode(l); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		o := harvest.Options{Redactor: g.Redactor, Exists: func(name string) bool { return name == "dataviz" }}
		sources = append(sources, Source{s.kind.Source(root, o), root})
	}
	r, err := g.Harvest(t.Context(), sources, true, func() {})
	if err != nil || r.Sessions != len(scribbles)*len(all) || len(r.Problems) > 0 {
		t.Fatalf("%d sessions of %d, %v, %v", r.Sessions, len(scribbles)*len(all), r.Problems, err)
	}
	mineAll(t, g)
	if _, err := g.WriteSidecars(t.Context(), filepath.Join(string(g.Dir), "sidecars")); err != nil {
		t.Fatal(err)
	}
	kept := keptOf(t, g)
	recall, decoys = tallies{}, tallies{}
	for _, p := range slices.Concat(forms, sessions) {
		counts := map[string]bool{}
		for _, m := range p.Messages {
			counts[m.Class] = true
		}
		for _, s := range scribbles {
			leaked := p.leaks(kept[s.kind.Agent+" "+p.ID].all)
			for _, v := range p.values {
				for class := range counts {
					if len(p.Messages) > 1 {
						recall.add("session", !slices.Contains(leaked, v), s.agent+" "+p.ID)
						break
					} else if class != "tool" {
						recall.add(class, !slices.Contains(leaked, v), s.agent+" "+p.ID)
						recall.add(class+" "+p.Row, !slices.Contains(leaked, v), s.agent+" "+p.ID)
					}
				}
			}
		}
		if leaked := p.leaks(direct(p.Messages)); counts["tool"] {
			for _, v := range p.values {
				class := "tool"
				if len(p.Messages) > 1 {
					class = "tool in a session"
				}
				recall.add(class, !slices.Contains(leaked, v), p.ID)
			}
		}
	}
	for _, p := range harmless {
		whole := func(text string) bool {
			return !slices.ContainsFunc(p.Keep, func(k string) bool { return !strings.Contains(text, k) })
		}
		if p.Class == "tool" {
			decoys.add("tool", whole(direct(p.Messages)), p.ID)
			continue
		}
		for _, s := range scribbles {
			decoys.add(p.Class, whole(kept[s.kind.Agent+" "+p.ID].texts), s.agent+" "+p.ID)
		}
	}
	nowhere(t, g, slices.Concat(forms, sessions), recall)
	return recall, decoys
}

// direct is what a session's texts become without a reader.
func direct(messages []message) string {
	s := redact.NewSession(nil)
	var texts []string
	for _, m := range messages {
		do := s.Redact
		switch m.Class {
		case "typed":
			do = s.Typed
		case "answer":
			do = s.Said
		}
		text, _ := do(m.Text)
		if m.Class == "typed" {
			for _, v := range redact.Doubts(text) {
				s.Learn(v, "secret")
			}
		}
		texts = append(texts, text)
	}
	for i := range texts {
		texts[i], _ = s.Again(texts[i], "")
	}
	return strings.Join(texts, "\n\x00\n")
}

// keptOf reads back what the store holds of each session.
func keptOf(t *testing.T, g *Ingester) map[string]harvested {
	all, err := g.Store.Sessions(t.Context(), store.SessionFilter{})
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]harvested{}
	for _, s := range all {
		var h harvested
		for _, turn := range s.Turns {
			h.texts += turn.Prompt + "\n\x00\n" + turn.Answer + "\n\x00\n"
		}
		id := s.ID
		s.ID, s.Path = "", "" // names of the corpus
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		h.all = h.texts + string(data)
		kept[s.Agent+" "+id] = h
	}
	return kept
}

// nowhere looks for the secrets that sessions do not hold in every byte that was
// written.
func nowhere(t *testing.T, g *Ingester, all []*planted, recall tallies) {
	m := new(corpustest.Manifest)
	for _, p := range all {
		for i, v := range p.values {
			s := corpustest.Secret{Session: p.ID, Kind: v}
			for _, part := range []string{v, p.bodies[i]} {
				if len(part) >= 8 {
					s.Parts = append(s.Parts, part)
				}
			}
			m.Secrets = append(m.Secrets, s)
		}
	}
	known := map[string]bool{}
	for name, c := range recall {
		for _, why := range c.failed {
			if fields := strings.Fields(why); name != "tool" && len(fields) == 2 {
				known[fields[1]] = true
			}
		}
	}
	err := filepath.WalkDir(string(g.Dir), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, s := range m.Leaks(data) {
			if !known[s.Session] {
				t.Errorf("%s holds a secret of %s that its session does not", filepath.Base(path), s.Session)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What people type, tools print and agents answer keeps its secrets to itself, in the
// forms that somebody wrote down who did not know the rules.
func TestSecretForms(t *testing.T) {
	dir := cmp.Or(os.Getenv(corpusFolder), "testdata/secrets")
	recall, decoys := scored(t, dir)
	for _, list := range []tallies{recall, decoys} {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			c := list[name]
			t.Logf("%-24s %5d of %5d %6.1f %%", name, c.good, c.all, c.rate())
		}
	}
	if os.Getenv("EVOLVE_SECRETS_MISSED") != "" {
		for _, list := range []tallies{recall, decoys} {
			for _, name := range slices.Sorted(maps.Keys(list)) {
				if !strings.Contains(name, " ") || name == "tool in a session" {
					t.Logf("%s: %s", name, strings.Join(list[name].failed, "\n\t"))
				}
			}
		}
	}
	if dir != "testdata/secrets" {
		return
	}
	for name, least := range map[string]float64{"typed": 90, "answer": 95, "tool": 95, "session": 95, "tool in a session": 95} {
		if got := recall[name].rate(); got < least {
			t.Errorf("%s: %.1f %% of the secrets are kept out, want %g", name, got, least)
		}
	}
	for name, c := range decoys {
		if c.rate() < 98 {
			t.Errorf("%s: %.1f %% of the look-alikes are whole", name, c.rate())
		}
	}
}

var _ = skill.HashText
