package agenttest

import (
	"fmt"
	"net/http"
)

// messages is Anthropic's Messages API.
type messages struct{}

func (messages) usage(r Reply, output int) object {
	return object{
		"input_tokens":                max(0, r.Input-r.Cached-r.CacheWrite),
		"cache_creation_input_tokens": r.CacheWrite,
		"cache_read_input_tokens":     r.Cached,
		"cache_creation":              object{"ephemeral_5m_input_tokens": r.CacheWrite, "ephemeral_1h_input_tokens": 0},
		"output_tokens":               output,
		"service_tier":                "standard",
	}
}

func (messages) blocks(r Reply, calls []call, id int64) []object {
	var out []object
	if r.Thinking != "" {
		out = append(out, object{"type": "thinking", "thinking": r.Thinking, "signature": "c2NyaXB0ZWQ="})
	}
	if r.Text != "" {
		out = append(out, object{"type": "text", "text": r.Text})
	}
	for i, c := range calls {
		out = append(out, object{"type": "tool_use", "id": fmt.Sprintf("toolu_%016d%02d", id, i), "name": c.name, "input": c.input})
	}
	return out
}

func (messages) stop(finish string) string {
	switch finish {
	case "stop":
		return "end_turn"
	case "length":
		return "max_tokens"
	case "tool_calls":
		return "tool_use"
	}
	return finish
}

func (m messages) plain(q *Request, r Reply, calls []call, id int64) any {
	return object{"id": fmt.Sprintf("msg_%018d", id), "type": "message", "role": "assistant", "model": q.Model,
		"content": m.blocks(r, calls, id), "stop_reason": m.stop(r.Finish), "stop_sequence": nil,
		"usage": m.usage(r, r.Output)}
}

func (m messages) stream(q *Request, r Reply, calls []call, id int64) []event {
	var out []event
	send := func(o object) { out = append(out, event{name: o["type"].(string), data: o}) }
	// The first event always reports one token of output: totals come last.
	send(object{"type": "message_start", "message": object{"id": fmt.Sprintf("msg_%018d", id), "type": "message",
		"role": "assistant", "model": q.Model, "content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": m.usage(r, 1)}})
	send(object{"type": "ping"})
	for i, b := range m.blocks(r, calls, id) {
		begin := func(block object) {
			send(object{"type": "content_block_start", "index": i, "content_block": block})
		}
		delta := func(d object, text bool) {
			send(object{"type": "content_block_delta", "index": i, "delta": d})
			out[len(out)-1].text = text
		}
		switch b["type"] {
		case "thinking":
			begin(object{"type": "thinking", "thinking": "", "signature": ""})
			for _, part := range parts(r.Thinking) {
				delta(object{"type": "thinking_delta", "thinking": part}, false)
			}
			delta(object{"type": "signature_delta", "signature": b["signature"]}, false)
		case "text":
			begin(object{"type": "text", "text": ""})
			for _, part := range parts(r.Text) {
				delta(object{"type": "text_delta", "text": part}, true)
			}
		default:
			begin(object{"type": "tool_use", "id": b["id"], "name": b["name"], "input": object{}})
			for _, part := range parts(compact(b["input"])) {
				delta(object{"type": "input_json_delta", "partial_json": part}, false)
			}
		}
		send(object{"type": "content_block_stop", "index": i})
	}
	send(object{"type": "message_delta", "delta": object{"stop_reason": m.stop(r.Finish), "stop_sequence": nil},
		"usage": m.usage(r, r.Output)})
	send(object{"type": "message_stop"})
	return out
}

func (messages) failure(r Reply, h http.Header) any {
	kind := map[int]string{400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
		404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error"}[r.Status]
	if kind == "" {
		kind = "api_error"
	}
	if r.Limit != nil {
		// Claude Code reads these headers in a subscription's refusal.
		h.Set("Anthropic-Ratelimit-Unified-Status", "rejected")
		h.Set("Anthropic-Ratelimit-Unified-Representative-Claim", "five_hour")
		h.Set("Anthropic-Ratelimit-Unified-Overage-Status", "rejected")
		h.Set("Anthropic-Ratelimit-Unified-Overage-Disabled-Reason", "org_level_disabled")
		if at := r.Limit.Resets; !at.IsZero() {
			reset := fmt.Sprint(at.Unix())
			h.Set("Anthropic-Ratelimit-Unified-Reset", reset)
			h.Set("Anthropic-Ratelimit-Unified-5h-Reset", reset)
			h.Set("Anthropic-Ratelimit-Unified-5h-Status", "rejected")
		}
	}
	h.Set("Request-Id", "req_scripted")
	return object{"type": "error", "error": object{"type": kind, "message": r.Message}, "request_id": "req_scripted"}
}
