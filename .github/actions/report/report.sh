# Says what came of each of $ITEMS: $RESULTS/INDEX/result.json, by index. A commit gets one
# status, the worst of its skills. Results are data: an answer is one of evolve's own, the rest
# are numbers, and what is missing or anything else is an error.
set -euo pipefail
jq -nc --argjson items "$ITEMS" '$items | to_entries[]' | while IFS= read -r item; do
	file=$RESULTS/$(jq -r .key <<<"$item")/result.json
	[ -f "$file" ] && [ "$(wc -c <"$file")" -le 10000 ] || file=/dev/null
	jq -sc --argjson item "$item" '
		(if length == 1 and (.[0] | type) == "object" then .[0] else {} end) as $r
		| ($r.answer | if type == "string" and test("\\A[a-z0-9%(), ]{1,80}\\z") then . else "" end) as $answer
		| [$r.cases, $r.wins, $r.losses, $r.ties] as $n
		| ($r.code == 0 and $r.simulated == false and ($n | all(type == "number"))) as $whole
		| $item.value + (
			if $whole and $r.cases > 0 and ($answer | test("\\A(better|no worse|probably better|no difference seen)")) then {state: "success"}
			elif $whole and $r.cases > 0 and ($answer | startswith("worse")) then {state: "failure"}
			else {state: "error"} end)
		| .say = if .state == "error" then "no answer: see the log of the run"
			else "\($answer): \($r.cases) held-out cases, \($r.wins) better, \($r.losses) worse, \($r.ties) the same" end' "$file" 2>/dev/null ||
		jq -c '.value + {state: "error", say: "no answer: see the log of the run"}' <<<"$item"
done | jq -sc 'group_by([.pr, .head])[]' | while IFS= read -r group; do
	state=$(jq -r 'map(.state) | if index("error") then "error" elif index("failure") then "failure" else "success" end' <<<"$group")
	head=$(jq -r '.[0].head' <<<"$group")
	pr=$(jq -r '.[0].pr' <<<"$group")
	gh api "repos/$REPO/statuses/$head" -f state="$state" -f context=evolve -f description="$(jq -r 'map(.say) | unique | join("; ")[:140]' <<<"$group")" >/dev/null
	gh api "repos/$REPO/issues/$pr/comments" -f body="$(jq -r '"evolve, at \(.[0].head[:12]):\n" + (map("- `\(.path)`: \(.say)") | join("\n"))' <<<"$group")" >/dev/null
	echo "$pr $head $state"
done
