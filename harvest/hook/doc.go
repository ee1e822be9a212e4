// Package hook is what an agent runs at the events of a session: `evolve hook EVENT`.
// It records the uses of skills as they happen on a bus of JSON Lines, which the next
// harvest joins with the transcripts; resolves "$name" in prompts; announces what
// changed since the last session; and keeps quarantined texts from being loaded.
//
// An agent waits for every hook, so a hook does little: it reads one JSON value,
// appends one line, and ends. It opens no connection and no database. If anything fails
// inside it, the agent continues.
package hook
