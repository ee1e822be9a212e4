package work

import "strings"

// A change is what a patch does to one file. from is its name before the patch, if that
// is another.
type change struct{ file, from, added, removed string }

// parsePatch reads a patch in the format of apply_patch, up to the first line that is
// none of it.
func parsePatch(patch string) (out []change) {
	var added, removed strings.Builder
	var now *change
	end := func() {
		if now != nil {
			now.added, now.removed = added.String(), removed.String()
			out = append(out, *now)
		}
		now = nil
		added.Reset()
		removed.Reset()
	}
	defer func() { end() }()
	started := false
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		if word, name, ok := header(line); ok {
			switch word {
			case "Begin Patch":
				started = true
			case "End Patch":
				end()
				return out
			case "Move to":
				if now == nil || now.from != "" || name == "" {
					end()
					return out
				}
				now.file, now.from = name, now.file
			case "End of File":
			default:
				end()
				if name == "" {
					return out
				}
				now = &change{file: name}
			}
			continue
		}
		switch {
		case !started && now == nil: // a command before the patch
		case now == nil && strings.TrimSpace(line) == "":
		case now == nil:
			return out
		case strings.HasPrefix(line, "+"):
			added.WriteString(line[1:] + "\n")
		case strings.HasPrefix(line, "-"):
			removed.WriteString(line[1:] + "\n")
		case line == "", strings.HasPrefix(line, " "), strings.HasPrefix(line, "@@"):
		default:
			end()
			return out
		}
	}
	return out
}

// header parses a line such as "*** Update File: NAME".
func header(line string) (word, name string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimRight(line, " \t"), "*** ")
	if !ok {
		return "", "", false
	}
	word, name, _ = strings.Cut(rest, ": ")
	switch word {
	case "Begin Patch", "End Patch", "End of File", "Add File", "Update File", "Delete File", "Move to":
		return word, strings.TrimSpace(name), true
	}
	return "", "", false
}
