package pi_test

import (
	"encoding/json"
	"fmt"
	"strings"
)

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// header is the first line of a session; no version is version 1.
func header(version string) string {
	if version != "" {
		version = `"version":` + version + `,`
	}
	return `{"type":"session",` + version + `"id":"s1","timestamp":"2026-11-20T18:00:00.000Z","cwd":"/home/dev/project"}`
}

// entry is a line of a session, a root if parent is "".
func entry(kind, id, parent, rest string) string {
	if parent == "" {
		parent = "null"
	} else {
		parent = quote(parent)
	}
	return `{"type":"` + kind + `","id":"` + id + `","parentId":` + parent + `,"timestamp":"2026-11-20T18:00:01.382Z"` + rest + `}`
}

func message(id, parent, body string) string {
	return entry("message", id, parent, `,"message":{`+body+`}`)
}

func typed(id, parent, text string) string {
	return message(id, parent, `"role":"user","content":[{"type":"text","text":`+quote(text)+`}],"timestamp":1795197601376`)
}

func reply(id, parent, stop, blocks string) string {
	return message(id, parent, `"role":"assistant","content":[`+blocks+`],"model":"m",`+usage+`,"stopReason":"`+stop+`","timestamp":1`)
}

func said(id, parent, text string) string {
	return reply(id, parent, "stop", `{"type":"text","text":`+quote(text)+`}`)
}

func calling(call, name, args string) string {
	return `{"type":"toolCall","id":"` + call + `","name":"` + name + `","arguments":` + args + `}`
}

func called(id, parent, call, name, args string) string {
	return reply(id, parent, "toolUse", calling(call, name, args))
}

func resulted(id, parent, call, text string, bad bool) string {
	return message(id, parent, fmt.Sprintf(`"role":"toolResult","toolCallId":"%s","toolName":"read","content":[{"type":"text","text":%s}],"isError":%v,"timestamp":2`, call, quote(text), bad))
}

// chain links entries that were written without parents into one branch.
func chain(lines ...string) []string {
	parent := ""
	for i, line := range lines {
		if parent != "" {
			lines[i] = strings.Replace(line, `"parentId":null`, `"parentId":"`+parent+`"`, 1)
		}
		_, id, _ := strings.Cut(line, `"id":"`)
		parent, _, _ = strings.Cut(id, `"`)
	}
	return append([]string{header("3")}, lines...)
}

func block(name, body, args string) string {
	s := `<skill name="` + name + `" location="` + file + `">` + "\nReferences are relative to /home/dev/.pi/agent/skills/dataviz.\n\n" + body + "\n</skill>"
	if args != "" {
		s += "\n\n" + args
	}
	return s
}
