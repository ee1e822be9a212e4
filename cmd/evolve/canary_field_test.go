package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A canary is a secret as it occurs in a text, and the part of it that must
// not be found anywhere.
type canary struct{ text, needle string }

// secretsFor are secrets of every kind for one origin: a needle that is found
// shows where it was planted.
func secretsFor(origin int) []canary {
	var out []canary
	n := 0
	// run makes a random-looking run of so many characters that no other has.
	run := func(alphabet string, length int) string {
		n++
		x := uint64(origin)*7919 + uint64(n)*104729 + 12345
		b := make([]byte, length)
		for i := range b {
			x = x*6364136223846793005 + 1442695040888963407
			b[i] = alphabet[(x>>33)%uint64(len(alphabet))]
		}
		return string(b)
	}
	const (
		low   = "abcdefghijkmnpqrstuvwxyz23456789"
		alnum = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789"
		upper = "ABCDEFGHJKLMNPQRSTUVWXYZ234567"
		hex   = "0123456789abcdef"
	)
	token := func(prefix, alphabet string, length int) {
		v := run(alphabet, length)
		out = append(out, canary{"the call had " + prefix + v + " in it", v})
	}
	in := func(format, alphabet string, length int) {
		v := run(alphabet, length-2) + "7a"
		out = append(out, canary{fmt.Sprintf(format, v), v})
	}
	token("gh"+"p_", alnum, 36)
	token("github"+"_pat_", alnum, 60)
	token("sk-"+"ant-api03-", alnum, 80)
	token("sk-"+"proj-", alnum, 48)
	token("AK"+"IA", upper, 16)
	token("xox"+"b-", low, 40)
	token("sk_"+"live_", alnum, 24)
	token("AI"+"za", alnum, 35)
	token("np"+"m_", alnum, 36)
	token("gl"+"pat-", alnum, 20)
	token("hf"+"_", alnum, 34)
	token("SG"+".", alnum, 60)
	token("dop"+"_v1_", hex, 64)
	in("clone https://ci:%s@git.example.com/shop.git", alnum, 24)
	in("Authorization: Bearer %s", alnum, 40)
	in("export DB_PASSWORD=%s", alnum, 18)
	in(`{"api_key": "%s"}`, alnum, 32)
	in("the password is %s", low, 16)
	in("postgres://shop:%s@db.internal:5432/shop", alnum, 20)
	in("-----BEGIN OPENSSH PRIVATE KEY-----\n%s\n-----END OPENSSH PRIVATE KEY-----", alnum, 70)
	return out
}

// A field holds the planted canaries: origin → their needles.
type field struct {
	// keys, if any, are planted instead: secrets without a recognisable form.
	keys []string

	mu      sync.Mutex
	origins []string
	planted map[string][]string
}

// plant returns the i-th kind's text for an origin.
func (f *field) plant(origin string, i int) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := slices.Index(f.origins, origin)
	if at < 0 {
		at = len(f.origins)
		f.origins = append(f.origins, origin)
	}
	all := secretsFor(at)
	if f.keys != nil {
		all = nil
		for _, k := range f.keys {
			all = append(all, canary{"it says " + k + " there", k})
		}
	}
	c := all[i%len(all)]
	if f.planted == nil {
		f.planted = map[string][]string{}
	}
	if !slices.Contains(f.planted[origin], c.needle) {
		f.planted[origin] = append(f.planted[origin], c.needle)
	}
	return c.text
}

// search looks for every canary in text.
func (f *field) search(t *testing.T, where string, text []byte) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for origin, needles := range f.planted {
		for _, n := range needles {
			if at := bytes.Index(text, []byte(n[:len(n)-2])); at >= 0 { // whole, cut, or escaped at its end
				t.Errorf("%s holds the canary %s, planted in %s: …%q…", where, n, origin, text[max(0, at-60):min(len(text), at+len(n)+20)])
			}
		}
	}
}

// transcript is a session of Claude Code with canaries in all its parts.
func (f *field) transcript(i int, correction string) []byte {
	var out bytes.Buffer
	id := fmt.Sprintf("cccccccc-0000-4000-8000-%012d", i)
	line := 0
	add := func(kind string, message map[string]any) {
		line++
		b, err := json.Marshal(map[string]any{"type": kind, "sessionId": id, "uuid": fmt.Sprint(id, "-", line), "version": "2.1.0",
			"cwd": "/home/dev/" + strings.ReplaceAll(f.plant("cwd", i), "\n", " "), "gitBranch": "fix/" + f.plant("branch", i),
			"timestamp": fmt.Sprintf("2026-05-%02dT10:%02d:00.000Z", i+1, line), "message": message})
		if err != nil {
			panic(err)
		}
		out.Write(append(b, '\n'))
	}
	user := func(content any) { add("user", map[string]any{"role": "user", "content": content}) }
	say := func(blocks ...map[string]any) {
		add("assistant", map[string]any{"role": "assistant", "id": fmt.Sprint("m", i, line), "model": "claude-test", "content": blocks,
			"usage": map[string]any{"input_tokens": 10, "output_tokens": 5}})
	}
	user(fmt.Sprintf("/dataviz plot the revenue of week %d from data/%d.csv for %s readers, %s", i, i, []string{"new", "old", "our"}[i%3], f.plant("prompt", i)))
	say(map[string]any{"type": "text", "text": "I look at it."},
		map[string]any{"type": "tool_use", "id": fmt.Sprint("t", i), "name": "Bash", "input": map[string]any{"command": f.plant("tool input", i)}})
	user([]map[string]any{{"type": "tool_result", "tool_use_id": fmt.Sprint("t", i), "content": f.plant("tool output", i)}})
	// Files are within the session's folder, whose name holds a canary too.
	cwd := "/home/dev/" + strings.ReplaceAll(f.plant("cwd", i), "\n", " ")
	say(map[string]any{"type": "tool_use", "id": fmt.Sprint("e", i), "name": "Edit", "input": map[string]any{"file_path": cwd + "/plot.py",
		"old_string": "plot() # " + f.plant("removed line", i), "new_string": "plot(log=True) # " + f.plant("added line", i)}})
	user([]map[string]any{{"type": "tool_result", "tool_use_id": fmt.Sprint("e", i), "content": "The file has been updated."}})
	say(map[string]any{"type": "tool_use", "id": fmt.Sprint("r", i), "name": "Bash", "input": map[string]any{"command": "rm out.png # " + f.plant("refused command", i)}})
	user([]map[string]any{{"type": "tool_result", "tool_use_id": fmt.Sprint("r", i), "is_error": true,
		"content": "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\n" + f.plant("refusal", i)}})
	say(map[string]any{"type": "text", "text": "Here is the chart of week " + fmt.Sprint(i) + ". " + f.plant("answer", i)})
	user(correction + " " + f.plant("correction", i))
	say(map[string]any{"type": "text", "text": "Mended with a log scale. " + f.plant("second answer", i)})
	user("perfect, thanks")
	return out.Bytes()
}

// asked is a session of Claude Code in a folder with a plain name, in which the user was asked about
// calls with a canary in each: they permitted some, and refused others with words that have one, too.
func (f *field) asked() []byte {
	var out bytes.Buffer
	line := func(kind string, more map[string]any) {
		more["type"], more["sessionId"], more["cwd"], more["entrypoint"] = kind, "asked", "/home/dev/asked", "cli"
		more["timestamp"] = fmt.Sprintf("2026-06-01T10:00:%02d.000Z", out.Len()%60)
		b, err := json.Marshal(more)
		if err != nil {
			panic(err)
		}
		out.Write(append(b, '\n'))
	}
	line("user", map[string]any{"uuid": "a", "message": map[string]any{"content": "deploy it"}})
	for i := range len(secretsFor(0)) {
		id, field := fmt.Sprint("t", i), []string{"command", "description"}[i%2]
		line("assistant", map[string]any{"message": map[string]any{"id": id, "content": []map[string]any{{"type": "tool_use", "id": id, "name": "Bash",
			"input": map[string]string{"command": "make deploy", field: f.plant("asked call", i)}}}}})
		result := map[string]any{"permissionDecision": map[string]string{"decision": "accept", "source": "user_temporary", "grantScope": "once"}, "toolUseResult": map[string]string{"stdout": "ok"}}
		if i%3 == 2 {
			result = map[string]any{"toolDenialKind": "user-rejected", "userFeedback": "never do that with " + f.plant("refusal", i)}
		}
		result["message"] = map[string]any{"content": []map[string]any{{"type": "tool_result", "tool_use_id": id, "content": "ok", "is_error": i%3 == 2}}}
		line("user", result)
	}
	return out.Bytes()
}
