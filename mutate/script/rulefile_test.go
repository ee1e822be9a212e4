package script

import (
	"strings"
	"testing"
)

const ruleFile = `{"version": 1, "rules": [
  {"tool": "Bash", "program": "git", "words": ["push", "--force"], "say": "Push without --force."}
]}
`

func TestRuleFile(t *testing.T) {
	if Of([]byte(ruleFile), "no-force.json") != Rules || Of([]byte(`{"hooks": {}}`), "settings.json") != "" || Of([]byte(ruleFile), "x.txt") != "" {
		t.Error("a rule file is not told from others")
	}
	if spans, err := Kernel([]byte(ruleFile), Rules); err != nil || spans != nil {
		t.Errorf("%v, %v", spans, err)
	}
	if _, err := Kernel([]byte(`{"version": 1, "rules": [{}]}`), Rules); err == nil {
		t.Error("an invalid one is taken")
	}
	all := strings.Replace(ruleFile, `"program": "git", "words": ["push", "--force"], `, "", 1)
	for name, c := range map[string]struct {
		parent, candidate, rule string // "": no finding
		kind                    Kind
	}{
		"another word":   {ruleFile, strings.Replace(ruleFile, "push", "reset", 1), "", 0},
		"another rule":   {ruleFile, strings.Replace(ruleFile, "]}\n", `, {"tool": "Edit", "path": "gen/**", "say": "No."}]}`, 1), "", 0},
		"none":           {ruleFile, `{"version": 1, "rules": []}`, "rules", Held},
		"all commands":   {ruleFile, all, "rules", Held},
		"all files":      {ruleFile, strings.Replace(ruleFile, "]}\n", `, {"tool": "Edit", "path": "**", "say": "No."}]}`, 1), "rules", Held},
		"all already":    {all, all + "\n", "", 0},
		"unknown":        {ruleFile, strings.Replace(ruleFile, `"say"`, `"run": "x", "say"`, 1), "syntax", Refused},
		"no JSON":        {ruleFile, "#!/bin/sh\nexit 2\n", "syntax", Refused},
		"too long":       {ruleFile, ruleFile + strings.Repeat("\n", MaxLines), "lines", Refused},
		"not seen":       {ruleFile, strings.Replace(ruleFile, "Push", "Push\u200b", 1), "unreadable", Refused},
		"a look-alike":   {ruleFile, strings.Replace(ruleFile, `"git"`, `"g`+"\u0456"+`t"`, 1), "look-alike", Refused},
		"nothing is new": {ruleFile, ruleFile, "", 0},
	} {
		found, err := Check(t.Context(), []byte(c.parent), []byte(c.candidate), Rules)
		if err != nil || (len(found) == 0) != (c.rule == "") || len(found) > 0 && (found[0].Rule != c.rule || found[0].Kind != c.kind) {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
	if found, err := Check(t.Context(), []byte("x"), []byte(ruleFile), Rules); err == nil {
		t.Errorf("a parent that is none: %+v", found)
	}
}
