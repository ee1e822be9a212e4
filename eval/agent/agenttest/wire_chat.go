package agenttest

import (
	"fmt"
	"net/http"
)

// chat is OpenAI's Chat Completions API, which most servers speak.
type chat struct{}

func (chat) calls(calls []call, id int64) []object {
	var out []object
	for i, c := range calls {
		o := object{"index": i, "id": fmt.Sprintf("call_%016d%02d", id, i)}
		if c.text != "" {
			o["type"], o["custom"] = "custom", object{"name": c.name, "input": c.text}
		} else {
			o["type"], o["function"] = "function", object{"name": c.name, "arguments": compact(c.input)}
		}
		out = append(out, o)
	}
	return out
}

func (chat) usage(r Reply) object {
	return object{
		"prompt_tokens": r.Input, "completion_tokens": r.Output, "total_tokens": r.Input + r.Output,
		"prompt_tokens_details":     object{"cached_tokens": r.Cached},
		"completion_tokens_details": object{"reasoning_tokens": r.Reasoning},
	}
}

func (w chat) plain(q *Request, r Reply, calls []call, id int64) any {
	message := object{"role": "assistant", "content": r.Text}
	if r.Thinking != "" {
		message["reasoning_content"] = r.Thinking
	}
	if len(calls) > 0 {
		message["tool_calls"] = w.calls(calls, id)
	}
	out := object{"id": fmt.Sprintf("chatcmpl-%018d", id), "object": "chat.completion", "created": created, "model": q.Model,
		"choices": []object{{"index": 0, "finish_reason": r.Finish, "message": message}}}
	if r.usage() {
		out["usage"] = w.usage(r)
	}
	return out
}

func (w chat) stream(q *Request, r Reply, calls []call, id int64) []event {
	var out []event
	send := func(choices []object, usage object) {
		o := object{"id": fmt.Sprintf("chatcmpl-%018d", id), "object": "chat.completion.chunk", "created": created,
			"model": q.Model, "choices": choices}
		if usage != nil {
			o["usage"] = usage
		}
		out = append(out, event{data: o})
	}
	delta := func(d object, finish any) {
		send([]object{{"index": 0, "delta": d, "finish_reason": finish}}, nil)
	}
	delta(object{"role": "assistant", "content": ""}, nil)
	if r.Thinking != "" {
		for _, part := range parts(r.Thinking) {
			delta(object{"reasoning_content": part}, nil)
		}
	}
	if r.Text != "" {
		for _, part := range parts(r.Text) {
			delta(object{"content": part}, nil)
			out[len(out)-1].text = true
		}
	}
	for _, c := range w.calls(calls, id) {
		delta(object{"tool_calls": []object{c}}, nil)
	}
	delta(object{}, r.Finish)
	if r.usage() {
		send([]object{}, w.usage(r))
	}
	return append(out, event{})
}

func (chat) failure(r Reply, _ http.Header) any {
	return object{"error": object{"message": r.Message, "type": r.Code, "code": r.Code, "param": nil}}
}

// ChatCompletions is the chat wire without streams, for tests that change a part of it.
type ChatCompletions struct{}

// Answer is a chat.completion object.
func (ChatCompletions) Answer(r Reply) any {
	return chat{}.plain(new(Request), r.prepare(Chat), nil, 0)
}

// Error is OpenAI's error object.
func (ChatCompletions) Error(r Reply) any { return chat{}.failure(r, nil) }
