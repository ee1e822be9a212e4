#!/usr/bin/env node
// kernel
// {{.Name}} answers {{.Event}}. Exit code 0: the agent goes on, or does what the JSON on stdout
// says; 2: it must not, and stderr says why; any other: the hook failed, and the agent goes on.
import { spawnSync } from "node:child_process";

process.env.HOOK_NAME = "{{.Name}}";
const call = (args, given) => {
  const done = spawnSync("hook-kit", args, { maxBuffer: 64 << 20, ...given });
  if (done.error) throw done.error;
  return done;
};
const event = call(["input"], { stdio: ["inherit", "pipe", "inherit"] }).stdout;
if (event.length === 0) process.exit(0); // what is no event is passed over
const kit = (...args) => call(args, { input: event, stdio: ["pipe", "pipe", "inherit"] });
const answer = (...args) => {
  kit("bus", "add", `decision=${args[0]}`); // `evolve hooks status` counts them
  const given = kit("emit", ...args);
  process.stdout.write(given.stdout);
  process.exitCode = given.status;
};
const fields = JSON.parse(event);
// /kernel

// An example: put your rule here, and its cases into cases.
{{- if .Commands}}
const commands = kit("commands").stdout.toString().split("\n").filter(Boolean).map((line) => JSON.parse(line));
if (commands.some(({ words = [] }) => words[0] === "git" && words[1] === "push" && (words.includes("--force") || words.includes("-f")))) {
  kit("log", "a push that forces");
  answer("{{.Answer}}", "{{.Text}}");
}
{{- else}}
if ({{if .Stops}}!fields.stop_hook_active && {{end}}
{{- if eq .Field "tool_calls"}}JSON.stringify(fields.{{.Field}} ?? ""){{else}}(fields.{{.Field}} ?? ""){{end}}.includes("{{.Match}}")) {
  answer("{{.Answer}}", "{{.Text}}");
}
{{- end}}
