package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain makes the test binary the program that the tests drive; PROGRAM selects
// which.
func TestMain(m *testing.M) {
	play, ok := programs[os.Getenv("PROGRAM")]
	if !ok {
		os.Exit(m.Run())
	}
	in, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	var r incoming
	if err := json.Unmarshal(in, &r); err != nil {
		panic(err)
	}
	play(in, r)
}

// incoming is a request as a program in another language would read it.
type incoming struct {
	Evolve    int
	Kind      string
	Skill     *struct{ Name, Dir, Text string }
	Others    []struct{ Name, Dir string }
	Prompt    string
	Context   []struct{ Role, Text string }
	Files     map[string]string
	Workspace string
	Prior     *struct {
		Answer   string
		Feedback []string
	}
	Seed         int64
	Forced       bool
	System, User string
	MaxTokens    int `json:"max_tokens"`
}

type object map[string]any

func say(v any) {
	if err := json.NewEncoder(os.Stdout).Encode(v); err != nil {
		panic(err)
	}
}

var programs = map[string]func([]byte, incoming){
	"chat": chat,
	// mirror answers with its request and its working folder.
	"mirror": func(in []byte, r incoming) {
		if r.Kind == kindPing {
			say(object{"ok": true, "name": "mirror", "version": "3.1", "model": "glass"})
			return
		}
		dir, _ := os.Getwd()
		listed := []string{}
		if r.Skill != nil {
			_ = filepath.WalkDir(filepath.Dir(r.Skill.Dir), func(path string, d os.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					listed = append(listed, filepath.Base(filepath.Dir(path))+"/"+d.Name())
				}
				return err
			})
		}
		answer, _ := json.Marshal(object{"request": json.RawMessage(in), "env": os.Environ(), "dir": dir, "skills": listed})
		if r.Kind == kindComplete {
			say(object{"text": string(answer), "usage": object{"input": 10, "output": 4}})
			return
		}
		if err := os.WriteFile("made.txt", []byte("x"), 0o600); err != nil {
			panic(err)
		}
		say(object{"evolve": 1, "answer": string(answer), "duration_ms": 1234.5, "turns": 3, "skills": []string{"stones", "other"},
			"usage": object{"input": 10, "cache_read": 5, "output": 4, "reasoning": 1}, "cost_usd": 0.25,
			"trace": []object{{"name": "Bash", "input": object{"command": "echo " + os.Getenv("API_KEY")}},
				{"name": "Read", "input": "made.txt", "failed": true}}})
	},
	// say prints SAY to any request, after a greeting to a ping.
	"say": func(_ []byte, r incoming) {
		if r.Kind == kindPing {
			say(object{"ok": true})
			return
		}
		fmt.Print(os.Getenv("SAY"))
		fmt.Fprint(os.Stderr, strings.Repeat("noise ", 1000)+"the key was "+os.Getenv("API_KEY")+"\n")
		os.Exit(3)
	},
	"noping": func(_ []byte, r incoming) {
		if r.Kind != kindTask {
			say(object{"error": object{"kind": "bad_request", "message": "no such kind: " + r.Kind}})
			return
		}
		say(object{"answer": "x"})
	},
	"rude": func([]byte, incoming) { say(object{"answer": "whatever you ask"}) },
	"flood": func(_ []byte, r incoming) {
		if r.Kind == kindPing {
			say(object{"ok": true})
			return
		}
		for {
			if _, err := os.Stdout.Write(bytes.Repeat([]byte("x"), 1<<16)); err != nil {
				return
			}
		}
	},
}

// chat asks a Chat Completions server, as a program of somebody's own would.
func chat(_ []byte, r incoming) {
	if r.Kind == kindPing {
		say(object{"ok": true, "model": "scripted"})
		return
	}
	var ms []object
	add := func(role, text string) { ms = append(ms, object{"role": role, "content": text}) }
	answer := "answer"
	if r.Kind == kindComplete {
		answer, r.Prompt = "text", r.User
		if r.System != "" {
			add("system", r.System)
		}
	}
	if r.Skill != nil {
		add("system", r.Skill.Text)
	}
	for _, m := range r.Context {
		add(m.Role, m.Text)
	}
	prompt := r.Prompt
	for name, text := range r.Files {
		prompt += "\n" + name + ":\n" + text
	}
	add("user", prompt)
	if r.Prior != nil {
		add("assistant", r.Prior.Answer)
		add("user", strings.Join(r.Prior.Feedback, "\n"))
	}
	body, err := json.Marshal(object{"model": "scripted", "messages": ms, "seed": r.Seed})
	if err != nil {
		panic(err)
	}
	req, err := http.NewRequest("POST", os.Getenv("BASE_URL")+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
	fail := func(kind, message string, after string) {
		wait, _ := time.ParseDuration(after + "s")
		say(object{"error": object{"kind": kind, "message": message, "retry_after_s": wait.Seconds()}})
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		fail("unreachable", err.Error(), "0")
		return
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	var reply struct {
		Choices []struct {
			Message      struct{ Content string }
			FinishReason string `json:"finish_reason"`
		}
		Usage struct {
			Prompt  int `json:"prompt_tokens"`
			Output  int `json:"completion_tokens"`
			Details struct {
				Cached int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		}
		Error struct{ Message, Code string }
	}
	if err == nil {
		err = json.Unmarshal(text, &reply)
	}
	switch {
	case res.StatusCode == 401:
		fail("auth", reply.Error.Message, "0")
	case reply.Error.Code == "insufficient_quota":
		fail("usage_limit", reply.Error.Message, "0")
	case res.StatusCode == 429:
		fail("rate_limited", reply.Error.Message, res.Header.Get("Retry-After"))
	case res.StatusCode >= 400 && res.StatusCode < 500:
		fail("bad_request", reply.Error.Message, "0")
	case err != nil || len(reply.Choices) == 0:
		// It dies, as programs do.
		fmt.Fprintln(os.Stderr, "no reply:", err, os.Getenv("API_KEY"))
		os.Exit(1)
	default:
		first := reply.Choices[0]
		out := object{answer: first.Message.Content, "usage": object{"input": reply.Usage.Prompt - reply.Usage.Details.Cached,
			"cache_read": reply.Usage.Details.Cached, "output": reply.Usage.Output}}
		if r.Kind == kindComplete {
			out["finish"] = first.FinishReason
		} else if first.FinishReason == "length" {
			out["failure"] = "cut off"
		}
		say(out)
	}
}
