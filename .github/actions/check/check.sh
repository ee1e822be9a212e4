# Checks each SKILL.md and file of instructions that differs between $BASE and HEAD. The
# candidate's files are read as data. What cannot be checked fails.
set -euo pipefail
scratch=$RUNNER_TEMP/evolve-check
rm -rf "$scratch"
mkdir "$scratch"
# A line of a candidate must not be a command to the runner.
word=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')
printf '::stop-commands::%s\n' "$word"
trap 'printf "::%s::\n" "$word"; rm -rf "$scratch"' EXIT

base=$(git rev-parse --verify --quiet --end-of-options "$BASE^{commit}") || { echo "there is no commit $BASE: check out with fetch-depth: 2"; exit 1; }
cd "$(git rev-parse --show-toplevel)"
patterns=()
for name in SKILL.md AGENTS.md AGENTS.override.md CLAUDE.md GEMINI.md '.claude/rules/**/*.md' .github/copilot-instructions.md '.github/instructions/**/*.instructions.md'; do
	patterns+=(":(glob)**/$name")
done
git diff --name-only -z --no-renames "$base" HEAD -- "${patterns[@]}" >"$scratch/changed"
failed=0
while IFS= read -r -d '' path; do
	against=()
	if ! git cat-file -e "HEAD:$path" 2>/dev/null; then
		echo "$path: removed"
		continue
	elif [ "$(git ls-tree HEAD -- ":(literal)$path" | cut -c1-6)" = 120000 ]; then
		echo "$path: error: a link is not checked"
		failed=1
		continue
	elif git cat-file -e "$base:$path" 2>/dev/null; then
		git show "$base:$path" >"$scratch/before.md"
		against=(--base "$scratch/before.md")
	else
		echo "$path: new: there is no text before it"
	fi
	evolve kernel check "./$path" "${against[@]}" || failed=1
done <"$scratch/changed" >"$scratch/said" 2>&1
[ -s "$scratch/said" ] || echo 'no skill and no file of instructions was changed' >"$scratch/said"
cat "$scratch/said"
{ echo; sed 's/^/    /' "$scratch/said"; } >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
exit "$failed"
