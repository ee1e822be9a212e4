package openai

import (
	"maps"
	"slices"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/skill-evolve/evolve/eval"
)

// taskMessages is the conversation of a task: the skill, if there is one, the turns
// before, the request with its files and, on a work retry, the failed answer and why it
// failed.
func taskMessages(t eval.Task) []api.ChatCompletionMessage {
	var ms []api.ChatCompletionMessage
	add := func(role, text string) {
		ms = append(ms, api.ChatCompletionMessage{Role: role, Content: text})
	}
	if t.Variant.Doc != nil {
		if body := string(t.Variant.Doc.Body()); strings.TrimSpace(body) != "" {
			add(api.ChatMessageRoleSystem, body)
		}
	}
	for _, m := range t.Case.Context {
		add(m.Role, orNothing(m.Text))
	}
	add(api.ChatMessageRoleUser, t.Case.Prompt+inlined(t.Case.Files))
	if t.Prior != nil {
		add(api.ChatMessageRoleAssistant, orNothing(t.Prior.Answer))
		add(api.ChatMessageRoleUser, correction(t.Prior.Feedback))
	}
	return ms
}

// orNothing replaces an empty text: the API refuses an empty message.
func orNothing(text string) string {
	if strings.TrimSpace(text) == "" {
		return "(nothing)"
	}
	return text
}

// inlined shows files under their names, each in a fence that none of its own
// lines can close.
func inlined(files map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := files[name]
		fence := "```"
		for strings.Contains(text, fence) {
			fence += "`"
		}
		b.WriteString("\n\n" + name + ":\n" + fence + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence)
	}
	return b.String()
}

// correction is a user's reaction to a failed answer.
func correction(feedback []string) string {
	if len(feedback) == 0 {
		return "That is not right yet. Please do it again and give the whole answer."
	}
	return "That is not right yet:\n- " + strings.Join(feedback, "\n- ") +
		"\nPlease do it again and give the whole answer."
}
