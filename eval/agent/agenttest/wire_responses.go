package agenttest

import (
	"fmt"
	"net/http"
	"time"
)

// responses is OpenAI's Responses API.
type responses struct{}

func (responses) items(r Reply, calls []call, id int64) []object {
	var out []object
	if r.Thinking != "" {
		out = append(out, object{"type": "reasoning", "id": fmt.Sprintf("rs_%018d", id), "status": "completed",
			"summary":           []object{{"type": "summary_text", "text": r.Thinking}},
			"encrypted_content": "scripted-encrypted-reasoning"})
	}
	if r.Text != "" {
		phase := "final_answer"
		if len(calls) > 0 {
			phase = "commentary"
		}
		out = append(out, object{"type": "message", "id": fmt.Sprintf("msg_%018d", id), "role": "assistant",
			"status": "completed", "phase": phase,
			"content": []object{{"type": "output_text", "text": r.Text, "annotations": []any{}}}})
	}
	for i, c := range calls {
		at := fmt.Sprintf("%016d%02d", id, i)
		if c.text != "" {
			out = append(out, object{"type": "custom_tool_call", "id": "ctc_" + at, "call_id": "call_" + at,
				"name": c.name, "input": c.text, "status": "completed"})
			continue
		}
		out = append(out, object{"type": "function_call", "id": "fc_" + at, "call_id": "call_" + at,
			"name": c.name, "arguments": compact(c.input), "status": "completed"})
	}
	return out
}

func (responses) begun(q *Request, id int64) object {
	return object{"id": fmt.Sprintf("resp_%018d", id), "object": "response", "created_at": created, "status": "in_progress",
		"model": q.Model, "output": []any{}, "usage": nil, "error": nil, "incomplete_details": nil,
		"parallel_tool_calls": true, "tools": []any{}, "metadata": object{}}
}

func (w responses) plain(q *Request, r Reply, calls []call, id int64) any {
	o := w.begun(q, id)
	o["status"], o["output"] = "completed", w.items(r, calls, id)
	if r.Finish == "length" {
		o["status"], o["incomplete_details"] = "incomplete", object{"reason": "max_output_tokens"}
	}
	if r.usage() {
		o["usage"] = object{"input_tokens": r.Input, "input_tokens_details": object{"cached_tokens": r.Cached},
			"output_tokens": r.Output, "output_tokens_details": object{"reasoning_tokens": r.Reasoning},
			"total_tokens": r.Input + r.Output}
	}
	return o
}

func (w responses) stream(q *Request, r Reply, calls []call, id int64) []event {
	var out []event
	send := func(o object) {
		o["sequence_number"] = len(out)
		out = append(out, event{name: o["type"].(string), data: o})
	}
	send(object{"type": "response.created", "response": w.begun(q, id)})
	for i, item := range w.items(r, calls, id) {
		begin := func(without string, empty any) {
			o := object{"status": "in_progress"}
			for k, v := range item {
				if k != "status" {
					o[k] = v
				}
			}
			o[without] = empty
			send(object{"type": "response.output_item.added", "output_index": i, "item": o})
		}
		part := func(o object) {
			o["item_id"], o["output_index"] = item["id"], i
			send(o)
		}
		switch item["type"] {
		case "message":
			begin("content", []any{})
			text := object{"type": "output_text", "text": "", "annotations": []any{}}
			part(object{"type": "response.content_part.added", "content_index": 0, "part": text})
			for _, p := range parts(r.Text) {
				part(object{"type": "response.output_text.delta", "content_index": 0, "delta": p})
				out[len(out)-1].text = true
			}
			part(object{"type": "response.output_text.done", "content_index": 0, "text": r.Text})
			part(object{"type": "response.content_part.done", "content_index": 0, "part": item["content"].([]object)[0]})
		case "reasoning":
			begin("summary", []any{})
			part(object{"type": "response.reasoning_summary_part.added", "summary_index": 0,
				"part": object{"type": "summary_text", "text": ""}})
			for _, p := range parts(r.Thinking) {
				part(object{"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": p})
			}
			part(object{"type": "response.reasoning_summary_text.done", "summary_index": 0, "text": r.Thinking})
			part(object{"type": "response.reasoning_summary_part.done", "summary_index": 0, "part": item["summary"].([]object)[0]})
		case "function_call":
			begin("arguments", "")
			part(object{"type": "response.function_call_arguments.delta", "delta": item["arguments"]})
			part(object{"type": "response.function_call_arguments.done", "arguments": item["arguments"]})
		default:
			begin("input", "")
		}
		send(object{"type": "response.output_item.done", "output_index": i, "item": item})
	}
	last := "response.completed"
	if r.Finish == "length" {
		last = "response.incomplete"
	}
	send(object{"type": last, "response": w.plain(q, r, calls, id)})
	return out
}

func (responses) failure(r Reply, _ http.Header) any {
	if r.Limit != nil {
		// Codex reads these fields in a subscription's refusal.
		e := object{"type": "usage_limit_reached", "message": r.Message, "plan_type": "plus"}
		if at := r.Limit.Resets; !at.IsZero() {
			e["resets_at"], e["resets_in_seconds"] = at.Unix(), int64(time.Until(at).Seconds())
		}
		return object{"error": e}
	}
	return object{"error": object{"message": r.Message, "type": r.Code, "code": r.Code, "param": nil}}
}
