// Package eval measures what a skill is worth: it has an agent answer cases with one
// text of the skill or another, and grades the answers.
//
// A Case is a request with checks. A Job asks for one case to be answered by one
// candidate once; an Evaluator turns jobs into Rollouts, under a Budget, and keeps each
// under a key of everything that could change it. Agent, Model, Grader and Recorder are
// the interfaces to the outside; backends are packages below agent.
//
// Three rules hold throughout. A failing agent is data: quality 0, with its trace. A
// failing infrastructure is not: it is retried, and then the rollout is missing, and
// counts nowhere. What is unknown is nil, never 0.
package eval
