# Tries the text $1 against $SKILL of the base commit, which is checked out here, on the cases
# in evals beside that, and writes the answer and numbers to $RESULT: no text of an agent.
set -euo pipefail
word=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')
printf '::stop-commands::%s\n' "$word"
out=$(mktemp)
trap 'printf "::%s::\n" "$word"; rm -f "$out"' EXIT
export "$KEY_ENV=$KEY"
unset KEY
[[ $CAP =~ ^[0-9]+([.][0-9]+)?$ ]] && [[ $CAP =~ [1-9] ]] || { echo 'max-cost-usd is no amount, or no cap'; exit 1; }
dir=$(dirname "$SKILL")
name=$(basename "$dir")
skills=$PWD/$(dirname "$dir")
export EVOLVE_HOME=${EVOLVE_HOME:-$RUNNER_TEMP/evolve-data}
evolve cases import "$dir" --skill "$name" --skills-dir "$skills"
[ "$AGENT" = simulated ] || evolve privacy agree "$VENDOR" replay judge
code=0
evolve check "$name" --skills-dir "$skills" --patch "$1" --no-harvest --agent "$AGENT" --max-cost-usd "$CAP" --yes --json >"$out" || code=$?
jq --argjson code "$code" '{code: $code, answer: .check.answer, cases: .verdict.cases, wins: .verdict.wins, losses: .verdict.losses, ties: .verdict.ties, usd: .spent.cost_usd, simulated: .simulated}' "$out" >"$RESULT"
cat "$RESULT"
exit "$code"
