"""Decides the checks of a case and prints their weighted mean: the reward, from 0 to 1."""
import json
import os
import re
import subprocess
import sys

checks_file, folder, trajectory = sys.argv[1:]
SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))


def answer():
    """What the agent said last."""
    with open(trajectory, encoding="utf-8") as f:
        steps = json.load(f)["steps"]
    for step in reversed(steps):
        said = step.get("message") if step.get("source") == "agent" else ""
        if isinstance(said, list):
            said = "".join(part.get("text") or "" for part in said)
        if said and said.strip():
            return said
    return ""


def content(path):
    """The bytes of a plain file in the folder, None if there is none."""
    root = os.path.realpath(folder)
    real = os.path.realpath(os.path.join(root, path))
    if not real.startswith(root + os.sep) or not os.path.isfile(real):
        return None
    with open(real, "rb") as f:
        return f.read()


def exits_with_0(command):
    try:
        return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=sys.stderr).returncode == 0
    except OSError:
        return False


def met(k):
    kind, value = k["type"], k.get("value", "")
    if kind == "file_exists":
        return content(k["path"]) is not None
    if kind == "file_contains":
        return value.encode() in (content(k["path"]) or b"")
    if kind == "command":
        return exits_with_0(k["command"])
    if kind == "contains":
        return value in answer()
    if kind == "not_contains":
        return value not in answer()
    if kind == "equals":
        return value.strip(SPACE) == answer().strip(SPACE)
    if kind == "max_chars":
        return len(answer()) <= k["max"]
    if kind == "regex":
        return re.search(value, answer(), re.ASCII) is not None
    if kind == "not_regex":
        return re.search(value, answer(), re.ASCII) is None
    raise ValueError("unknown check " + kind)


with open(checks_file, encoding="utf-8") as f:
    checks = json.load(f)
won = total = 0.0
for k in checks:
    ok, weight = met(k), k.get("weight") or 1
    print("met    " if ok else "not met", json.dumps(k), file=sys.stderr)
    won, total = won + weight * ok, total + weight
print(won / total)
