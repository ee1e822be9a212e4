#!/bin/sh
# kernel
# {{.Name}} answers {{.Event}}. Exit code 0: the agent goes on, or does what the JSON on stdout
# says; any other: the hook failed, and the agent goes on. 2 would stop it, but sh, [ and grep
# end with 2 after a mistake: it counts as a failure here, and `answer block` stops.
trap '[ $? = 2 ] && exit 1' EXIT
export HOOK_NAME={{.Name}}
event=$(hook-kit input) || exit 1
[ -n "$event" ] || exit 0 # what is no event is passed over
kit() { printf '%s' "$event" | hook-kit "$@"; }
answer() { kit bus add "decision=$1"; kit emit "$@"; } # `evolve hooks status` counts them
# /kernel

# An example: put your rule here, and its cases into cases.
{{- if .Commands}}
if kit commands | grep -Eq '"words":\["git","push".*"(--force|-f)"'; then
	kit log "a push that forces"
	answer {{.Answer}} "{{.Text}}"
	exit
fi
{{- else}}
{{- if .Stops}}
[ "$(kit input stop_hook_active)" = true ] && exit 0 # it was stopped once already
{{- end}}
case $(kit input {{.Field}}) in
*"{{.Match}}"*)
	answer {{.Answer}} "{{.Text}}"
	exit
	;;
esac
{{- end}}
