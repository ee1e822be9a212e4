package timer

import (
	"bytes"
	"encoding/xml"
	"strings"
	"sync"
	"text/template"
)

// Nice 10, and the idle class of the disk: a night has no deadline.
var serviceUnit = parsedTimer(`# Written by ` + "`evolve sleep install`" + `.
[Unit]
Description=evolve: a nightly run

[Service]
Type=oneshot
ExecStart={{.Exec}}
Nice=10
IOSchedulingClass=idle
{{range .Env}}Environment={{systemd .}}
{{end}}`)

var timerUnit = parsedTimer(`# Written by ` + "`evolve sleep install`" + `.
[Unit]
Description=evolve: a nightly run at {{.At}}

[Timer]
OnCalendar=*-*-* {{.At}}:00
Persistent=true

[Install]
WantedBy=timers.target
`)

var launchAgent = parsedTimer(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by evolve sleep install. -->
<plist version="1.0">
<dict>
	<key>Label</key><string>` + agentName + `</string>
	<key>ProgramArguments</key>
	<array>
{{range .Words}}		<string>{{xml .}}</string>
{{end}}	</array>
	<key>EnvironmentVariables</key>
	<dict>
{{range .Pairs}}		<key>{{xml (index . 0)}}</key><string>{{xml (index . 1)}}</string>
{{end}}	</dict>
	<key>StartCalendarInterval</key>
	<dict><key>Hour</key><integer>{{.Hour}}</integer><key>Minute</key><integer>{{.Minute}}</integer></dict>
	<key>Nice</key><integer>10</integer>
	<key>LowPriorityIO</key><true/>
	<key>ProcessType</key><string>Background</string>
</dict>
</plist>
`)

func parsedTimer(s string) func() *template.Template {
	return sync.OnceValue(func() *template.Template {
		return template.Must(template.New("").Funcs(template.FuncMap{"systemd": systemdWord, "xml": xmlText}).Parse(s))
	})
}

// fill makes the text of one of the timer's files.
func (t *Timer) fill(of func() *template.Template) string {
	var words, quoted []string
	var pairs [][]string
	words = append([]string{t.Program}, t.Args...)
	for i, w := range words {
		if i > 0 { // variables are put into arguments, and not into the program's path
			w = strings.ReplaceAll(w, "$", "$$")
		}
		quoted = append(quoted, systemdWord(w))
	}
	for _, e := range t.Env {
		name, value, _ := strings.Cut(e, "=")
		pairs = append(pairs, []string{name, value})
	}
	var b bytes.Buffer
	err := of().Execute(&b, map[string]any{"Exec": strings.Join(quoted, " "), "Env": t.Env, "Words": words, "Pairs": pairs,
		"At": t.At(), "Hour": t.Hour, "Minute": t.Minute})
	if err != nil {
		panic(err) // the templates are constants
	}
	return b.String()
}

// systemdWord quotes an argument of a unit file: systemd.syntax(7), and % for
// specifiers.
func systemdWord(s string) string {
	s = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`).Replace(s)
	return `"` + s + `"`
}

func xmlText(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}
