// Package hook is what an agent runs at the events of a session: `evolve hook
// EVENT`. It notes the uses of skills as they happen on a bus of JSON Lines,
// which the next harvest joins with the transcripts; resolves "$name" in prompts;
// tells what changed since the last session; and keeps texts in quarantine from
// being loaded.
//
// An agent waits for every hook, so a hook does little: it reads one JSON value,
// appends one line, and ends. It opens no connection and no database. Whatever
// goes wrong inside it, the agent goes on.
package hook
