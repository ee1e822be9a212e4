package skill

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// AllowedTools are the tools that the frontmatter's allowed-tools declares, in
// its order: "Read", "Bash(git add *)". The specification separates them by
// spaces; commas and YAML lists are in use too. What is in parentheses
// belongs to its tool.
func (d *Document) AllowedTools() []string {
	n := d.front.value("allowed-tools")
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return splitTools(d.front.text("allowed-tools"))
	}
	var tools []string
	for _, item := range n.Content {
		if item = Follow(item); item.Kind == yaml.ScalarNode {
			if tool := strings.TrimSpace(item.Value); tool != "" {
				tools = append(tools, tool)
			}
		}
	}
	return tools
}

func splitTools(s string) []string {
	depth := 0
	return strings.FieldsFunc(s, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth = max(0, depth-1)
		}
		return depth == 0 && (r == ',' || r == ' ' || r == '\t' || r == '\n')
	})
}
