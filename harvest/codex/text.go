package codex

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/ownwords"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// machine are the beginnings of user messages that the program wrote, in versions that
// do not mark them.
var machine = []string{"<environment_context>", "<ENVIRONMENT_CONTEXT>", "<user_instructions>", "# AGENTS.md instructions", "<skill>\n",
	"<turn_aborted>", "<subagent_notification>", "<user_shell_command>", "<user_action>", "<permissions instructions>",
	"Another language model started to solve this problem"} // the last is a compaction

var (
	// wrapped matches the beginning of a message in which the program put something
	// before the user's words: what is open and selected in the editor, a page, a
	// review.
	wrapped = lazyregexp.New(`^(?:# (?:Context from my IDE setup|In app browser|Browser comments|Files mentioned by the user|Diff comments|Selected text|` +
		`Review findings|Response annotations):|<in-app-browser-context\b)`)
	// asked matches the mark between that and the user's words.
	asked = lazyregexp.New(`(?m)^## My request(?: for Codex)?:`)
	// evidence matches page evidence, which may follow the user's words.
	evidence = lazyregexp.New(`(?m)^The next image is untrusted page evidence`)
)

// human returns the part of a message's text that the user typed, "" if none.
func human(text string) string {
	text = strings.TrimSpace(text)
	for _, m := range machine {
		if strings.HasPrefix(text, m) {
			return ""
		}
	}
	return ide(text)
}

// ide removes what a program put around the user's words. A selection or a paste can
// itself hold the mark before the user's words: if there are several marks, what
// follows the last is kept as a quotation.
func ide(text string) string {
	text = strings.TrimSpace(text)
	if !wrapped.MatchString(text) {
		return strings.TrimSpace(ownwords.CutInjected(text))
	}
	marks := asked.FindAllStringIndex(text, -1)
	if len(marks) == 0 {
		return ""
	}
	text = text[marks[len(marks)-1][1]:]
	if at := evidence.FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	if text = strings.TrimSpace(ownwords.CutInjected(text)); text != "" && len(marks) > 1 {
		text = "> " + strings.ReplaceAll(text, "\n", "\n> ")
	}
	return text
}

// skillBlock parses the message that the program adds for a skill that the user
// mentioned into its name, the path of its file, and the file.
func skillBlock(text string) (name, file, body string, ok bool) {
	text, ok = strings.CutPrefix(text, "<skill>\n<name>")
	if !ok {
		return "", "", "", false
	}
	if name, text, ok = strings.Cut(text, "</name>\n<path>"); !ok {
		return "", "", "", false
	}
	if file, text, ok = strings.Cut(text, "</path>\n"); !ok {
		return "", "", "", false
	}
	body, ok = strings.CutSuffix(text, "\n</skill>")
	return strings.TrimSpace(name), file, body, ok
}

// shells are the programs that run the last word of a command as a command line.
var shells = map[string]bool{"bash": true, "sh": true, "zsh": true, "dash": true, "fish": true, "ksh": true, "powershell": true,
	"powershell.exe": true, "pwsh": true, "pwsh.exe": true, "cmd": true, "cmd.exe": true}

// shell is the command line of a call to a shell tool, or of a command's record, as the
// user would type it, and the folder that it names.
func shell(call gjson.Result) (line, dir string) {
	in := call
	if args := call.Get("arguments"); args.Exists() {
		in = gjson.Parse(args.Str)
	} else if action := call.Get("action"); action.IsObject() { // local_shell_call
		in = action
	}
	dir = in.Get("workdir").Str + in.Get("working_directory").Str + in.Get("cwd").Str
	for _, key := range []string{"cmd", "command"} {
		v := in.Get(key)
		if v.IsArray() {
			return joined(v.Array()), dir
		}
		if v.Type == gjson.String {
			return v.Str, dir
		}
	}
	return "", dir
}

// joined is a command line of words. Of `bash -lc LINE` it is LINE.
func joined(words []gjson.Result) string {
	if len(words) == 3 && strings.HasPrefix(words[1].Str, "-") && shells[words[0].Str[strings.LastIndexAny(words[0].Str, `/\`)+1:]] {
		return words[2].Str
	}
	var line []string
	for _, w := range words {
		word := w.Str
		if word == "" || strings.ContainsAny(word, " \t\n'\"\\$`|&;<>()*?[]#~{}!") {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		line = append(line, word)
	}
	return strings.Join(line, " ")
}

// readers are the commands that print a file.
var readers = map[string]bool{"cat": true, "bat": true, "head": true, "tail": true, "sed": true, "less": true, "more": true, "nl": true,
	"type": true, "Get-Content": true, "gc": true}

var separators = strings.NewReplacer("&&", "\n", "||", "\n", ";", "\n", "|", "\n")

// reading are the files called SKILL.md that a command prints. whole is true if it
// prints one of them and nothing else.
func reading(command string) (files []string, whole bool) {
	parts := strings.Split(separators.Replace(command), "\n")
	for _, part := range parts {
		words := strings.Fields(part)
		if len(words) < 2 || !readers[words[0]] || strings.Contains(part, ">") || words[0] == "sed" && strings.Contains(part, " -i") {
			continue
		}
		for _, w := range words[1:] {
			w = strings.Trim(w, `'"`)
			if _, _, ok := harvest.SkillFile(w); ok {
				files = append(files, w)
			}
		}
	}
	return files, len(files) == 1 && plainCat(command)
}

// plainCat reports whether a command is "cat FILE" and no more.
func plainCat(command string) bool {
	words := strings.Fields(command)
	return len(words) == 2 && words[0] == "cat" && !strings.ContainsAny(command, "|;&<>$`*")
}

// output is what a tool printed, without what the program added around it. whole is
// false if the program cut it.
func output(v gjson.Result) (text string, whole bool) {
	text = v.Str
	if v.IsObject() {
		text = v.Get("content").Str
	}
	if inner := gjson.Parse(text).Get("output"); strings.HasPrefix(text, `{"output":`) && inner.Type == gjson.String {
		text = inner.Str
	} else if _, after, ok := strings.Cut(text, "\nOutput:\n"); ok {
		text = after
	}
	return text, !strings.Contains(text, " truncated") && !strings.HasPrefix(text, "Total output lines: ")
}
