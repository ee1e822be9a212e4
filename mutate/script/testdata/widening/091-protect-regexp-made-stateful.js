#!/usr/bin/env node
// protect: ask before edits to generated, vendored or ignored files
const fs = require('fs');
const path = require('path');
const { execFileSync } = require('child_process');

const PATTERNS = [
  /(^|\/)vendor\//,
  /(^|\/)dist\//,
  /\.min\.(js|css)$/g,
  /(^|\/)(package-lock\.json|yarn\.lock|poetry\.lock)$/,
];

// kernel
const HARD = [/(^|\/)\.git\//, /(^|\/)\.claude\/settings(\.local)?\.json$/];
function decide(decision, reason) {
  console.log(JSON.stringify({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: decision,
      permissionDecisionReason: reason,
    },
  }));
  process.exit(0);
}
// /kernel

function ignored(cwd, file) {
  try {
    execFileSync('git', ['-C', cwd, 'check-ignore', '-q', '--', file], { stdio: 'ignore' });
    return true;
  } catch (e) {
    return false;
  }
}

function main() {
  const event = JSON.parse(fs.readFileSync(0, 'utf8'));
  const { file_path: file } = event.tool_input || {};
  if (!file || !['Write', 'Edit', 'MultiEdit'].includes(event.tool_name)) {
    process.exit(0);
  }
  const rel = path.relative(event.cwd || '.', file);
  if (HARD.some((re) => re.test(file))) {
    decide('deny', `protect: ${rel} is never edited by an agent`);
  }
  if (!PATTERNS.some((re) => re.test(rel))) process.exit(0);
  for (const re of PATTERNS) {
    if (re.test(rel)) decide('ask', `protect: ${rel} matches ${re}`);
  }
  if (ignored(event.cwd || '.', file)) {
    decide('ask', `protect: ${rel} is ignored by git`);
  }
}

main();
