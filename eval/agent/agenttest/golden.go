package agenttest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
)

// golden is the part of a rollout that must be equal whenever the program prints the
// same.
func golden(r *eval.Rollout) any {
	return object{"status": r.Status, "quality": r.Quality, "retries": r.Retries, "answer": r.Answer, "failure": r.Failure,
		"trace": r.Trace, "usage": r.Usage, "cost_usd": r.CostUSD, "skill_invoked": r.SkillInvoked, "skills": r.Skills,
		"files": r.Files, "turns": r.Turns, "audit": r.Audit, "attempts": r.Attempts, "infra_retries": r.InfraRetries,
		"backend": r.Agent.Backend, "version": r.Agent.Version, "model": r.Agent.Model}
}

// duration matches a duration in messages.
var duration = regexp.MustCompile(`\b\d+(\.\d+)?( ?(µs|ms|s|m|h)| (milli)?seconds?| minutes?| hours?| days?)\b`)

// keep compares the stage's outcomes with the golden ones, or writes them, and
// the recordings with them.
func (st *stage) keep() {
	st.Helper()
	role := part{Names: st.names}
	if st.live() && *recording {
		all, err := takes(st.dir, st.p.RPC)
		if err != nil {
			st.Fatal(err)
		}
		if !st.scene.live {
			if st.name == Concurrent { // all are equal
				all = firstOnly(all)
			}
			for i := range all {
				all[i].Frames = thin(all[i].Frames)
			}
			role.scrub(all)
			st.write(st.file(".json"), all)
		}
	}
	notes, err := filepath.Glob(filepath.Join(st.dir, "*", "differs.txt"))
	if err != nil {
		st.Fatal(err)
	}
	for _, path := range notes[:min(1, len(notes))] {
		text, err := os.ReadFile(path)
		if err != nil {
			st.Fatal(err)
		}
		st.Errorf("the program is not called as it was when its streams were recorded; record them again\n%s", text)
	}
	if len(st.golden) == 0 || st.scene.live {
		return
	}
	path := st.file(".golden.json")
	if *recording || *updating {
		st.write(path, role.normal(st.golden))
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		st.Fatal(err)
	}
	if got := pretty(role.normal(st.golden)); !bytes.Equal(got, want) {
		st.Errorf("%s says\n%s\nthis run gave\n%s", filepath.Base(path), want, got)
	}
}

// firstOnly keeps the first child of those that were not asked for their version.
func firstOnly(all []take) []take {
	found := false
	return slices.DeleteFunc(all, func(k take) bool {
		drop := found && !k.version()
		found = found || !k.version()
		return drop
	})
}

func (st *stage) write(path string, v any) {
	st.Helper()
	writeFile(st.T, path, string(pretty(v)))
	if err := os.Chmod(path, 0o644); err != nil {
		st.Fatal(err)
	}
}

func pretty(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "\t")
	if err := enc.Encode(v); err != nil {
		panic(err) // only our own objects come here
	}
	return b.Bytes()
}

// normal removes from v what differs from run to run.
func (p *part) normal(v any) any {
	return mapStrings(plainJSON(v), func(s string) string {
		return duration.ReplaceAllString(anyID.ReplaceAllString(p.blank(s), "{id}"), "{time}")
	})
}

// scrub removes from recordings what belongs to this machine and what belongs to the
// vendor: texts of system prompts, descriptions of tools and bundled skills.
func (p *part) scrub(all []take) {
	line := func(s string) string {
		if v, err := decode([]byte(s)); err == nil && elide(v) {
			s = compact(v)
		}
		return longRun.ReplaceAllString(p.blank(s), strings.Repeat("z", 64))
	}
	for i := range all {
		k := &all[i]
		for j, a := range k.Args {
			k.Args[j] = anyID.ReplaceAllString(p.blank(a), "{id}")
		}
		k.Stdin = anyID.ReplaceAllString(p.blank(k.Stdin), "{id}")
		k.Stderr = p.blank(k.Stderr)
		for j, s := range k.Stdout {
			k.Stdout[j] = line(s)
		}
		for name, text := range k.Files {
			k.Files[name] = p.blank(text)
		}
		for name, text := range k.Kept {
			lines := strings.Split(text, "\n")
			for j, s := range lines {
				lines[j] = line(s)
			}
			k.Kept[name] = strings.Join(lines, "\n")
		}
		for j := range k.Frames {
			k.Frames[j].Body = line(k.Frames[j].Body)
		}
	}
}

// longRun matches the filler of the huge output: a recording needs little of it.
var longRun = regexp.MustCompile(`z{65,}`)

// elided replaces texts of a vendor.
const elided = "[elided]"

// elide blanks in place what a vendor wrote, and reports whether there was any.
func elide(v any) (found bool) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			found = elide(e) || found
		}
	case map[string]any:
		role, _ := v["role"].(string)
		kind, _ := v["type"].(string)
		source, _ := v["source"].(string)
		for key, e := range v {
			switch {
			case key == "role" || key == "type":
			case key == "inputSchema" || key == "input_schema" || key == "parameters":
				v[key], found = object{}, true
			case key == "toolsAdded":
				v[key], found = []any{}, true
			case role == "system" || role == "developer" || kind == "system.message",
				key == "systemPrompt" || key == "system_prompt" || key == "systemMessage" || key == "instructions" || key == "base_instructions",
				key == "description" && source == "builtin":
				v[key] = mapStrings(e, func(string) string { return elided })
				found = true
			default:
				found = elide(e) || found
			}
		}
	}
	return found
}

func decode(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

// plainJSON is v as maps, slices and strings.
func plainJSON(v any) any {
	out, err := decode([]byte(compact(v)))
	if err != nil {
		panic(err) // it was just written
	}
	return out
}

// mapStrings applies f to every string value in v.
func mapStrings(v any, f func(string) string) any {
	switch v := v.(type) {
	case string:
		return f(v)
	case []any:
		for i := range v {
			v[i] = mapStrings(v[i], f)
		}
	case map[string]any:
		for k := range v {
			v[k] = mapStrings(v[k], f)
		}
	}
	return v
}
