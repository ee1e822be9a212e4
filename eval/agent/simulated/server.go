package simulated

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/skill-evolve/evolve/eval"
)

// A Server implements the Chat Completions API for a World, so that everything from a
// flag to a socket can be tried against it. A model whose name contains "reflect" is
// the world's mutator, judge and miner; every other one is its agent: the system
// message is the skill, the last user message the case.
type Server struct {
	world World
	agent *player
	model *model
	// Calls counts answered requests by kind of model.
	AgentCalls, ModelCalls atomic.Int64
}

// Server returns a handler for w.
func (w World) Server() *Server {
	return &Server{world: w, agent: &player{compile(w)}, model: &model{compile(w)}}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/models") {
		reply(w, map[string]any{"object": "list", "data": []any{map[string]any{"id": "sim-task"}, map[string]any{"id": "sim-reflect"}}})
		return
	}
	var q struct {
		Model    string
		Seed     int64
		Messages []struct{ Role, Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		reply(w, map[string]any{"error": map[string]any{"message": err.Error()}})
		return
	}
	var system, user string
	for _, m := range q.Messages {
		switch m.Role {
		case "system", "developer":
			system = m.Content
		case "user":
			user = m.Content
		}
	}
	var text, finish string
	var usage *eval.Usage
	if strings.Contains(q.Model, "reflect") {
		s.ModelCalls.Add(1)
		c, err := s.model.Complete(r.Context(), eval.Prompt{System: system, User: user, Seed: q.Seed})
		if err != nil {
			return // the client went away
		}
		text, finish, usage = c.Text, c.Finish, c.Usage
	} else {
		s.AgentCalls.Add(1)
		a := s.agent.attempt([]byte(system), eval.Task{Case: &eval.Case{Prompt: user}, Seed: q.Seed})
		text, finish, usage = a.Answer, "stop", a.Usage
	}
	reply(w, map[string]any{"id": "sim", "object": "chat.completion", "model": q.Model,
		"choices": []any{map[string]any{"index": 0, "finish_reason": finish, "message": map[string]any{"role": "assistant", "content": text}}},
		"usage":   map[string]any{"prompt_tokens": usage.Input, "completion_tokens": usage.Output, "total_tokens": usage.Total()}})
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	// If the client is gone, the error cannot be reported.
	_ = json.NewEncoder(w).Encode(v)
}
