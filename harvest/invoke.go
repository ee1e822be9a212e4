package harvest

import (
	"path"
	"slices"
	"strings"
)

// MaxName is the longest name of a skill, namespaces included; the
// specification allows 64 bytes without.
const MaxName = 256

// MaxUses are the uses of different skills that one turn may have. More are no
// work of a person's, and comparing all of them would take its time.
const MaxUses = 1000

// Invoke notes v as a use in the last turn of s, and reports whether it did: a
// name that cannot be one is no use, and a turn has 1000 at most. Several signals of one skill in one turn,
// the user's mention, the agent's tool call, its look into SKILL.md, are one
// use: the strongest gives it its place and id, the others what it lacks.
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

// Prove takes back the typed commands that used no skill as far as is known: of
// "/the" nobody can tell whether it is the beginning of another command. One is a
// use if the skill's text was loaded for it, or if exists knows a skill of its
// name; exists may be nil.
func (s *Session) Prove(exists func(name string) bool) {
	s.Invocations = slices.DeleteFunc(s.Invocations, func(v Invocation) bool {
		typed := v.Signal == PromptSlashCommand || v.Signal == InputSlashCommand
		return typed && v.Dir == "" && v.BodyHash == "" && (exists == nil || !exists(v.Skill))
	})
}

// sameSkill reports whether two uses are of one skill. Skills of one name in two
// folders are two; one folder is one, whatever its skill is called.
func sameSkill(a, b Invocation) bool {
	if a.Dir != "" && b.Dir != "" {
		return a.Dir == b.Dir
	}
	return a.Skill == b.Skill
}

// strength orders signals: what the agent itself recorded as the use of a skill,
// what only looks like a command, what must be inferred.
func strength(s Signal) int {
	switch s {
	case SkillFileRead:
		return 0
	case PromptSlashCommand:
		return 1
	}
	return 2
}

// SkillFile takes apart the path of a skill's SKILL.md, with slashes of either
// kind: its folder, and the name that this gives it. ok is false for any other
// file.
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
