#!/bin/sh
# Delivers the event of each case to the hook, twice, and compares what it decides.
cd "$(dirname "$0")" || exit 1
command -v hook-kit >/dev/null || { echo "hook-kit is not on PATH" >&2; exit 1; }
home=$(mktemp -d) || exit 1
trap 'rm -rf "$home"' EXIT
decision() {
	hook-kit input "${2:-event}" <"$1" >"$home/event" # a hook does not wait for a file
	{{.Guard}}./{{.Script}} <"$home/event" >"$home/answer" 2>"$home/said"
	code=$?
	case $code,$(hook-kit input <"$home/answer") in
	2,* | 0,*'"permissionDecision":"deny"'* | 0,*'"decision":"block"'*) echo block ;;
	0,*'"permissionDecision":"ask"'*) echo ask ;;
	0,*'"permissionDecision":"allow"'*) echo allow ;;
	0,*'"additionalContext":'*) echo context ;;
	0,*) echo go ;;
	*) echo "exit $code" ;;
	esac
}
failed=0
for file in cases/*.json; do
	export EVOLVE_HOME="$home/$file" # a state of its own
	want=$(hook-kit input decision <"$file")
	[ -z "$(hook-kit input before <"$file")" ] || decision "$file" before >"$home/before" # what came first
	for delivery in first second; do
		got=$(decision "$file")
		[ "$got" = "$want" ] && continue
		echo "$file, $delivery delivery: $got, and not $want"
		cat "$home/said" >&2
		failed=1
	done
done
[ $failed = 0 ] && echo "every case is decided as it says"
exit $failed
