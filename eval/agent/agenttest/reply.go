package agenttest

import (
	"net/http"
	"time"
)

// A Reply is the scripted model's reaction to one request.
type Reply struct {
	Text     string // of the answer; before the tool calls, if there are any
	Thinking string // shown before the text
	Tools    []Op   // tool calls, in order
	Finish   string // as Chat Completions words it; "" is "stop", or "tool_calls"

	// Tokens. Input includes Cached and CacheWrite, as OpenAI counts; Output
	// includes Reasoning. All 0 reports no usage if the wire allows that.
	Input, Cached, CacheWrite, Output, Reasoning int

	Status     int    // other than 0 and 200: an error
	Code       string // of the error, in OpenAI's terms; Anthropic's follows from Status
	Message    string
	RetryAfter string // the header, as it is
	// Limit is a usage limit, worded as by the vendor of the wire.
	Limit *Limit

	Raw  string        // sent as it is, with status 200
	Drop bool          // the connection is cut in the middle of the reply
	Hang bool          // nothing is sent until the client goes away
	Slow time.Duration // pause before every part of a streamed text
}

// A Limit is a used-up subscription or account.
type Limit struct {
	Resets time.Time // whole seconds are sent; zero: not sent
}

// An Op is a tool call in vendor-neutral form: it becomes a call of the tool that the
// request declares for it.
type Op struct {
	Do      string         // "skill", "read", "bash", "write", "edit" or "raw"
	Name    string         // of the skill, or of the raw tool
	Path    string         // of read, write and edit
	Command string         // of bash
	Text    string         // of write: the content; of edit: the new text
	Old     string         // of edit
	Input   map[string]any // of raw
}

// Skill loads a skill through the agent's own tool, or by reading the SKILL.md
// that the prompt names.
func Skill(name string) Op { return Op{Do: "skill", Name: name} }

// Read reads a file.
func Read(path string) Op { return Op{Do: "read", Path: path} }

// Bash runs a command in a shell.
func Bash(command string) Op { return Op{Do: "bash", Command: command} }

// Write writes a file.
func Write(path, content string) Op { return Op{Do: "write", Path: path, Text: content} }

// Edit replaces a line, old, with text in a file.
func Edit(path, old, text string) Op { return Op{Do: "edit", Path: path, Old: old, Text: text} }

// Raw calls a tool by its name.
func Raw(name string, input map[string]any) Op { return Op{Do: "raw", Name: name, Input: input} }

// prepare fills in what Limit, Finish and Drop imply on a wire.
func (r Reply) prepare(w Wire) Reply {
	if r.Limit != nil {
		r.Status, r.Code = http.StatusTooManyRequests, "insufficient_quota"
		switch {
		case r.Message != "":
		case w == Messages:
			r.Message = "This request would exceed your account's rate limit. Please try again later."
		case w == Responses:
			r.Message = "The usage limit has been reached"
		default:
			r.Message = "You exceeded your current quota, please check your plan and billing details."
		}
	}
	if r.Finish == "" && len(r.Tools) > 0 {
		r.Finish = "tool_calls"
	}
	if r.Finish == "" {
		r.Finish = "stop"
	}
	if r.Drop && r.Text == "" {
		r.Text = "zirconium: this reply is long enough to be cut in the middle of its text"
	}
	return r
}

func (r Reply) usage() bool { return r.Input+r.Output > 0 }
