#!/usr/bin/env python3
# kernel
# {{.Name}} answers {{.Event}}. Exit code 0: the agent goes on, or does what the JSON on stdout
# says; 2: it must not, and stderr says why; any other: the hook failed, and the agent goes on.
import json
import os
import subprocess
import sys

os.environ["HOOK_NAME"] = "{{.Name}}"
event = subprocess.run(["hook-kit", "input"], stdout=subprocess.PIPE, check=True).stdout
if not event:  # what is no event is passed over
    sys.exit(0)


def kit(*args):
    return subprocess.run(["hook-kit", *args], input=event, stdout=subprocess.PIPE)


def answer(*args):
    kit("bus", "add", "decision=" + args[0])  # `evolve hooks status` counts them
    given = kit("emit", *args)
    sys.stdout.buffer.write(given.stdout)
    sys.exit(given.returncode)


fields = json.loads(event)
# /kernel

# An example: put your rule here, and its cases into cases.
{{- if .Commands}}
for line in kit("commands").stdout.splitlines():
    words = json.loads(line).get("words", [])
    if words[:2] == ["git", "push"] and ("--force" in words or "-f" in words):
        kit("log", "a push that forces")
        answer("{{.Answer}}", "{{.Text}}")
{{- else}}
{{- if .Stops}}
if fields.get("stop_hook_active"):  # it was stopped once already
    sys.exit(0)
{{- end}}
if "{{.Match}}" in {{if eq .Field "tool_calls"}}json.dumps(fields.get("{{.Field}}"))
{{- else}}fields.get("{{.Field}}", ""){{end}}:
    answer("{{.Answer}}", "{{.Text}}")
{{- end}}
