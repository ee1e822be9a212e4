package main

import (
	"strings"
)

const ()

// showsUTF8 reports whether the terminal's locale says that it shows more than ASCII.
func showsUTF8(a *global) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := a.Getenv(name); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}
