// Package agenttest is the one conformance suite that every agent backend runs:
// what an Evaluator relies on, whatever the agent is.
//
// # The scripted model
//
// [Server] is a model on loopback whose replies a test scripts. It speaks
// Anthropic Messages, OpenAI Responses and OpenAI Chat Completions, plain and
// streamed, each by its path; Server.Root is what Anthropic's clients take as
// base address, Server.URL ("/v1" at its end) what OpenAI's take. It takes [Key]
// and refuses all others. A [Reply] is a text, tool calls ([Skill], [Read],
// [Bash], [Write], [Edit], mapped onto whatever tools the request declares), an
// error, a usage limit, or a connection that breaks or hangs. Replies come from
// a script in order, or from a function of the conversation so far:
//
//	s := agenttest.Start(t, agenttest.Config{Side: "a title", Answer: func(q agenttest.Request) agenttest.Reply {
//		if q.Step == 0 { // no tool has run yet
//			return agenttest.Reply{Tools: []agenttest.Op{agenttest.Bash("ls")}}
//		}
//		return agenttest.Reply{Text: "it holds " + q.Result()}
//	}})
//
// # A backend that speaks HTTP itself
//
// Its test calls [Run], and [RunModel] if it is an eval.Model too.
//
// # A backend that drives a program
//
// Its test calls [RunProgram], and nothing else:
//
//	func TestConformance(t *testing.T) {
//		agenttest.RunProgram(t, agenttest.Program{
//			Name: "claude",
//			New: func(t *testing.T, s agenttest.Setup) agenttest.Agent {
//				a, err := New(t.Context(), replay.Config{Path: s.Path, Model: "scripted", BaseURL: s.Server.Root,
//					Credentials: []string{"ANTHROPIC_API_KEY=" + s.Key}, Env: s.Env, Sandbox: s.Sandbox})
//				if err != nil {
//					t.Fatal(err)
//				}
//				return a
//			},
//		})
//	}
//
// With EVOLVE_REAL_AGENTS=1 the program is the real one, EVOLVE_REAL_CLAUDE,
// against the scripted model; with -agenttest.record besides, what every child
// printed is written to testdata/agent/SCENARIO.json, and the rollouts that came
// of it to testdata/agent/SCENARIO.golden.json. Otherwise the program is a player:
// this test binary, which sees EVOLVE_AGENTTEST in its environment (Setup.Env
// must reach the child as it is) and prints what was recorded for the scenario.
// The rollouts must be the same either way. What only a real program can show
// (what reached the model, sandbox and home) is skipped then.
//
// A recording is only good for the arguments and the stdin that it was made
// with; the test fails if they have changed, and wants to record again:
//
//	EVOLVE_REAL_AGENTS=1 EVOLVE_REAL_CLAUDE=… go test ./eval/agent/claude -run Conformance -args -agenttest.record
//
// .ci/agents installs the programs, and prints where they are. A program that
// speaks JSON-RPC (Program.RPC) is played as a conversation: each of its messages
// is sent once all that came before it then has come now. What an agent reads of
// the private folder after the run is recorded if Program.Keeps names it.
//
// Paths, addresses and keys are kept as placeholders ({workspace}, {private},
// {person}, {server}, {key}, {program}, {cache}), and texts of a system prompt are
// left out. -agenttest.update writes the golden rollouts alone, if the reading of
// the streams was changed on purpose.
package agenttest
