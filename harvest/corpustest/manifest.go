package corpustest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/skill-evolve/evolve/harvest"
)

// ManifestFile is the name of the manifest in a corpus's folder.
const ManifestFile = "manifest.json"

// A Manifest is the complete record of a corpus.
type Manifest struct {
	Schema      int          `json:"schema"` // 1
	Seed        uint64       `json:"seed"`
	Sessions    int          `json:"sessions"`
	Files       int          `json:"files"` // sessions and subagents
	Bytes       int64        `json:"bytes"` // of the transcripts
	Turns       int          `json:"turns"`
	Invocations []Invocation `json:"invocations"`
	Secrets     []Secret     `json:"secrets"`
	Harmless    []Harmless   `json:"harmless"`
}

// An Invocation is one explicit use of a skill.
type Invocation struct {
	Session string         `json:"session"` // as harvest names it: a subagent's is "session/agent"
	Turn    string         `json:"turn"`    // promptId
	Skill   string         `json:"skill"`
	Signal  harvest.Signal `json:"signal"`
	Failed  bool           `json:"failed,omitempty"`
	// Label is the label of the user's planted reaction in the next message; "" if none
	// was planted.
	Label harvest.Label `json:"label,omitempty"`
}

// Places of what is planted. A harvest keeps only texts of the first two.
const (
	Prompt     = "prompt"
	Answer     = "answer"
	ToolInput  = "tool_input"
	ToolResult = "tool_result"
	Thinking   = "thinking"
)

// A Secret must not be found anywhere but in the transcript.
type Secret struct {
	Session string   `json:"session"`
	Kind    string   `json:"kind"`
	Place   string   `json:"place"`
	Parts   []string `json:"parts"` // substrings that are written alike in JSON and in text
}

// Harmless is a text that must survive.
type Harmless struct {
	Session string `json:"session"`
	Kind    string `json:"kind"`
	Place   string `json:"place"`
	Text    string `json:"text"`
}

// ReadManifest reads the manifest of the corpus in dir.
func ReadManifest(dir string) (*Manifest, error) {
	data, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	m := new(Manifest)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	if m.Schema != 1 {
		return nil, fmt.Errorf("read manifest: schema %d is not 1", m.Schema)
	}
	return m, nil
}

func (m *Manifest) write(dir string) error {
	data, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, ManifestFile), data, 0o600); err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	return nil
}
