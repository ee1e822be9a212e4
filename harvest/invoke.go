package harvest

import (
	"path"
	"slices"
	"strings"
)

// MaxName is the longest name of a skill, namespaces included; the
// specification allows 64 bytes without.
const MaxName = 256

// MaxUses is how many different skills one turn may use. A person does not use more,
// and comparing them all would take too long.
const MaxUses = 1000

// Invoke records v as a use in the last turn of s, and reports whether it did: an
// invalid name is no use, and a turn has at most MaxUses. Several signals of one skill
// in one turn (the user's mention, the agent's tool call, its reading of SKILL.md) are
// one use: the strongest signal sets its line and id, the others add what it lacks.
func (s *Session) Invoke(v Invocation) bool {
	if v.Skill == "" || len(v.Skill) > MaxName || strings.ContainsAny(v.Skill, "\n\r\x00") || len(s.Turns) == 0 {
		return false
	}
	v.Turn = len(s.Turns) - 1
	v.Explicit = v.Signal != SkillFileRead
	v.Feedback = Feedback{Label: Unknown}
	uses := 0
	for i := len(s.Invocations) - 1; i >= 0 && s.Invocations[i].Turn == v.Turn; i-- {
		uses++
		old := &s.Invocations[i]
		if !sameSkill(*old, v) {
			continue
		}
		weak := v
		if strength(v.Signal) > strength(old.Signal) {
			weak, *old = *old, v
		}
		if old.BodyHash == "" {
			old.BodyHash = weak.BodyHash
		}
		if old.Dir == "" {
			old.Dir = weak.Dir
		}
		old.Failed = old.Failed && weak.Failed
		return true
	}
	if uses >= MaxUses {
		return false
	}
	s.Invocations = append(s.Invocations, v)
	return true
}

// Prove removes typed commands that are not known to have used a skill: "/the" may be
// the beginning of any other command. A command is a use if the skill's text was loaded
// for it, or if exists knows a skill of its name; exists may be nil.
func (s *Session) Prove(exists func(name string) bool) {
	s.Invocations = slices.DeleteFunc(s.Invocations, func(v Invocation) bool {
		typed := v.Signal == PromptSlashCommand || v.Signal == InputSlashCommand
		return typed && v.Dir == "" && v.BodyHash == "" && (exists == nil || !exists(v.Skill))
	})
}

// sameSkill reports whether two uses are of one skill. Skills of one name in two
// folders are different; one folder is one skill, whatever its name.
func sameSkill(a, b Invocation) bool {
	if a.Dir != "" && b.Dir != "" {
		return a.Dir == b.Dir
	}
	return a.Skill == b.Skill
}

// strength orders signals, the strongest first: a use that the agent itself recorded,
// then what only looks like a command, then what is inferred.
func strength(s Signal) int {
	switch s {
	case SkillFileRead:
		return 0
	case PromptSlashCommand:
		return 1
	}
	return 2
}

// SkillFile splits the path of a skill's SKILL.md, with slashes of either kind, into
// its folder and the name that the folder gives it. ok is false for any other file.
func SkillFile(file string) (name, dir string, ok bool) {
	clean := strings.ReplaceAll(file, `\`, "/")
	if path.Base(clean) != "SKILL.md" {
		return "", "", false
	}
	name = path.Base(path.Dir(clean))
	if name == "." || name == ".." || name == "/" {
		return "", "", false
	}
	return name, file[:len(file)-len("/SKILL.md")], true
}
