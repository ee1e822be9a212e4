package fleet

import "runtime/debug"

// Program names this evolve: its version, and the commit that it was built from. Machines of
// a fleet have the same one.
func Program() string {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	name := b.Main.Version
	for _, s := range b.Settings {
		switch {
		case s.Key == "vcs.revision":
			name += " " + s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			name += " changed"
		}
	}
	return name
}
