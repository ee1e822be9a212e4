#!/usr/bin/env node
'use strict';
// depguard - only packages that package.json already names may be installed
const fs = require('fs');
const path = require('path');

let raw = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk) => { raw += chunk; });
process.stdin.on('end', () => main(JSON.parse(raw)));

// kernel
const NEVER = ['event-stream', 'flatmap-stream', 'crossenv', 'node-ipc'];
const deny = (why) => {
  console.error('depguard: ' + why);
  process.exit(2);
};
// /kernel

const INSTALL = /\b(?:npm (?:i|install|add)|yarn add|pnpm (?:add|i)|bun add)\b([^;&|]*)/;

function known(cwd) {
  try {
    const pkg = JSON.parse(fs.readFileSync(path.join(cwd, 'package.json'), 'utf8'));
    return new Set([
      ...Object.keys(pkg.dependencies || {}),
      ...Object.keys(pkg.devDependencies || {}),
    ]);
  } catch {
    return new Set();
  }
}

function bare(spec) {
  const at = spec.indexOf('@', 1);
  return at > 0 ? spec.slice(0, at) : spec;
}

function main(event) {
  if (event.tool_name !== 'Bash') return;
  const m = INSTALL.exec(event.tool_input.command || '');
  if (!m) return;
  const names = m[1].split(/\s+/).filter((w) => w && !w.startsWith('-')).map(bare);
  const have = known(event.cwd || process.cwd());
  for (const name of names) {
    if (NEVER.includes(name)) deny(`${name} is known to be malicious`);
    if (!have.has(name)) deny(`${name} is not in package.json; ask first`);
  }
}
