package hook

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// PluginFiles are the files of a Claude Code plugin with evolve's hooks, by their path
// in its folder.
func PluginFiles(program string) (map[string][]byte, error) {
	manifest, err := json.MarshalIndent(map[string]string{"name": "evolve", "version": "1.0.0",
		"description": "Notes the uses of your skills, resolves $name, and tells what changed overnight"}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode plugin: %w", err)
	}
	return map[string][]byte{
		filepath.Join(".claude-plugin", "plugin.json"): append(manifest, '\n'),
		filepath.Join("hooks", "hooks.json"):           Fragment(program),
	}, nil
}

// WritePlugin writes the plugin into dir and keeps all other files in it.
func WritePlugin(dir, program string) (changed bool, err error) {
	files, err := PluginFiles(program)
	if err != nil {
		return false, err
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if old, err := readFile(path); err == nil && string(old) == string(text) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return changed, fmt.Errorf("write plugin: %w", err)
		}
		if err := renameio.WriteFile(path, text, 0o644); err != nil {
			return changed, fmt.Errorf("write plugin: %w", err)
		}
		changed = true
	}
	return changed, nil
}
