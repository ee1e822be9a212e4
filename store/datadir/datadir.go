// Package datadir names what evolve keeps in its data folder.
package datadir

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A Dir is evolve's data folder. Folders in it are made when they are first written to.
type Dir string

// Find returns $EVOLVE_HOME, or evolve's folder in the XDG data folder.
func Find(getenv func(string) string) (Dir, error) {
	if h := getenv("EVOLVE_HOME"); h != "" {
		h, err := filepath.Abs(h)
		return Dir(h), err
	}
	if x := getenv("XDG_DATA_HOME"); filepath.IsAbs(x) {
		return Dir(filepath.Join(x, "evolve")), nil
	}
	h, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the home folder: %w", err)
	}
	return Dir(filepath.Join(h, ".local", "share", "evolve")), nil
}

func (d Dir) join(names ...string) string {
	return filepath.Join(append([]string{string(d)}, names...)...)
}

// Database is the file of the store; copies of damaged ones are kept beside it.
func (d Dir) Database() string { return d.join("evolve.db") }

// Damaged matches the copies of damaged databases.
func (d Dir) Damaged() string { return "evolve.db.damaged-*" }

// Config is the owner's settings.
func (d Dir) Config() string { return d.join("config.yaml") }

// Projects is what the owner has allowed: which projects are read, and who gets their text.
func (d Dir) Projects() string { return d.join("projects.yaml") }

// Staged is where the challengers that were proved lie, a folder a skill.
func (d Dir) Staged() string { return d.join("staged") }

// Probes is the folder of the kernel probes of one skill, or file of instructions.
func (d Dir) Probes(subject string) string {
	return d.join("probes", fmt.Sprintf("%s-%.8x", FileName(subject), sha256.Sum256([]byte(subject))))
}

// Reports is the folder of the pages of runs and nights.
func (d Dir) Reports() string { return d.join("reports") }

// Handoff is the default folder for requests that are answered by hand.
func (d Dir) Handoff() string { return d.join("handoff") }

// Missed says why the last night could not ask an agent.
func (d Dir) Missed() string { return d.join("missed.json") }

// Running is the folder of the locks of runs and skills.
func (d Dir) Running() string { return d.join("running") }

// InstallLock is the lock for installing.
func (d Dir) InstallLock() string { return d.join("install.lock") }

// Setups is the folder of dependencies that were prepared for replays.
func (d Dir) Setups() string { return d.join("setup") }

// Backups is the folder of agents' settings as they were before an edit.
func (d Dir) Backups() string { return d.join("backups") }

// Hooks is the record of the settings files that have evolve's hooks.
func (d Dir) Hooks() string { return d.join("hooks") }

// Logs is the folder of the logs of what went wrong in hooks and fleets.
func (d Dir) Logs() string { return d.join("logs") }

// Queue, Notes, Told and Quarantine are the state of hooks: see package hook.
func (d Dir) Queue() string      { return d.join("queue") }
func (d Dir) QueueLock() string  { return d.join("queue.lock") } // of the process that harvests from it
func (d Dir) Notes() string      { return d.join("notes") }
func (d Dir) Told() string       { return d.join("notes", "told") }
func (d Dir) Quarantine() string { return d.join("quarantine") }

// HookState has a folder for each hook that people wrote: what it keeps with hook-kit.
func (d Dir) HookState() string { return d.join("hook-state") }

// Fleet has the keys of a fleet and what its server stores, on the machine that runs it.
func (d Dir) Fleet() string { return d.join("fleet") }

// Fleets has a note about each fleet that a run of this machine has joined.
func (d Dir) Fleets() string { return d.join("fleets") }

// Edits begins the names of folders in which a case is being edited.
const Edits = "edit-"

// TextName is the name of a text in names of files: the first digits of its SHA-256.
func TextName(sha string) string { return sha[:min(16, len(sha))] }

// FileName makes a name fit for a file: it keeps letters and digits, at most sixty.
func FileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, name)
	return name[:min(len(name), 60)]
}
